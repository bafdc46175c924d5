#include "workbench/runnable.h"

#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include "base/error.h"
#include "trace/graph/symbol_table.h"
#include "trace/onnx/external.h"
#include "trace/onnx/reader.h"
#include "trace/onnx/tensors.h"
#include "workbench/constants.h"
#include "workbench/model.h"
#include "workbench/random.h"
#include "workbench/types.h"

namespace symprof::workbench {
namespace {

/// The modules of a node as the reader of graphs knows them, where the exporter wrote them in its
/// older form ("namespace").
void add_module_names(onnx::NodeProto& node) {
  bool is_old = false;
  for (const onnx::StringStringEntryProto& entry : node.metadata_props()) {
    if (entry.key() == "pkg.torch.onnx.name_scopes") return;
    is_old |= entry.key() == "namespace";
  }
  if (!is_old) return;
  std::string names = "[", types = "[";
  for (const ModuleStep& step : modules_of(node)) {
    names += fmt::format("'{}', ", step.path);
    types += fmt::format("'{}', ", step.type);
  }
  const std::pair<const char*, std::string> entries[] = {
      {"pkg.torch.onnx.name_scopes", names + "'call']"},
      {"pkg.torch.onnx.class_hierarchy", types + "'call']"}};
  for (const auto& [key, text] : entries) {
    auto* entry = node.add_metadata_props();
    entry->set_key(key);
    entry->set_value(text);
  }
}

[[noreturn]] void refuse_missing(const std::string& path, const std::string& name) {
  throw Error(path, fmt::format("the data of '{}' is not there, so no value can be computed", name),
              "Put random weights in its place: symprof fill.");
}

/// `model` without what its values do not depend on; `weights` gets those of initializers.
onnx::ModelProto bare(const onnx::ModelProto& model, const std::string& path,
                      ValueRunner::Leaves& weights) {
  onnx::ModelProto out = model;
  out.clear_metadata_props();
  onnx::GraphProto& graph = *out.mutable_graph();
  graph.clear_metadata_props();
  graph.clear_value_info();
  for (onnx::NodeProto& node : *graph.mutable_node()) add_module_names(node);
  for (onnx::TensorProto& tensor : *graph.mutable_initializer()) {
    if (tensor.data_type() == onnx::TensorProto::STRING) continue;
    const bool is_outside = tensor.data_location() == onnx::TensorProto::EXTERNAL;
    ConstantPointer value = is_outside ? trace::external_tensor(tensor, path)
                                       : trace::constant_tensor(tensor, tensor.name());
    if (value->data.empty() && value->spec.numel() != 0) refuse_missing(path, tensor.name());
    weights[tensor.name()] = std::move(value);
  }
  return out;
}

class InputDrawer {
 public:
  InputDrawer(const std::string& path, const DrawOptions& options)
      : path_(path), options_(options) {
    for (const auto& [name, size] : options.sizes) sizes_.constrain(name, size, path);
  }

  ConstantPointer draw(const Value& input, std::int64_t bound) {
    if (!input.spec)
      throw Error(path_, fmt::format("the input '{}' is no tensor; random values are for tensors",
                                     input.name));
    std::vector<std::int64_t> sizes;
    for (std::size_t i = 0; i < input.spec->sizes.size(); ++i)
      sizes.push_back(i < input.dimensions.size() ? size_of(input.dimensions[i], input.name)
                                                  : input.spec->sizes[i]);
    std::int64_t count = 1;
    for (const std::int64_t size : sizes)
      if (__builtin_mul_overflow(count, size, &count) || count > most_elements)
        throw Error(path_, fmt::format("the input '{}' has too many numbers", input.name));
    return values(input, std::move(sizes), count, bound);
  }

 private:
  static constexpr std::int64_t most_elements = std::int64_t{1} << 30;

  std::int64_t size_of(const Dimension& dimension, const std::string& input) {
    if (dimension.symbol.empty() && dimension.size >= 0) return dimension.size;
    const std::string symbol = dimension.symbol.empty() ? input : dimension.symbol;
    if (const auto known = sizes_.evaluate(symbol)) return *known;
    sizes_.constrain(symbol, next_++, path_);
    return sizes_.evaluate(symbol).value_or(next_ - 1);
  }

  ConstantPointer values(const Value& input, std::vector<std::int64_t> sizes, std::int64_t count,
                         std::int64_t bound) const {
    Random random(options_.seed ^ hash_of(input.name));
    const DType dtype = input.spec->dtype;
    ConstantPointer made;
    if (is_floating_point(dtype)) {
      std::vector<double> numbers(static_cast<std::size_t>(count));
      for (double& number : numbers) number = random.normal();
      made = make_constant(dtype, std::move(sizes), numbers);
    } else {
      std::vector<std::int64_t> numbers(static_cast<std::size_t>(count));
      for (std::int64_t& number : numbers)
        number = random.whole(dtype == DType::boolean ? 2 : bound);
      made = make_integers(std::move(sizes), numbers, dtype);
    }
    if (!made)
      throw Error(path_, fmt::format("there are no random values of {}, the dtype of the input "
                                     "'{}'",
                                     name(dtype), input.name));
    return made;
  }

  const std::string& path_;
  const DrawOptions& options_;
  trace::SymbolTable sizes_;
  std::int64_t next_ = 2;
};

}  // namespace

Runnable runnable(const onnx::ModelProto& model, const std::string& path) {
  Runnable start;
  start.graph = trace::read_onnx(bytes_of(bare(model, path, start.leaves), path), path,
                                 trace::Reading::as_written);
  return start;
}

ValueRunner::Leaves random_inputs(const Runnable& start, const std::vector<std::int64_t>& bounds,
                                  const DrawOptions& options, const std::string& path) {
  ValueRunner::Leaves inputs;
  InputDrawer drawer(path, options);
  for (const ValueId id : start.graph.inputs) {
    const Value& input = start.graph.value(id);
    if (input.kind == ValueKind::input && !start.leaves.contains(input.name))
      inputs[input.name] = drawer.draw(input, bounds[static_cast<std::size_t>(id)]);
  }
  return inputs;
}

}  // namespace symprof::workbench
