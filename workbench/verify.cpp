#include "workbench/verify.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "base/error.h"
#include "trace/graph/symbol_table.h"
#include "trace/onnx/mapped_file.h"
#include "trace/onnx/reader.h"
#include "trace/onnx/tensors.h"
#include "workbench/constants.h"
#include "workbench/nodes.h"
#include "workbench/random.h"

namespace symprof::workbench {
namespace {

constexpr double tolerance_of_float32 = 1e-6, tolerance_of_half = 2e-4;

bool is_half(std::int32_t type) {
  return type == onnx::TensorProto::FLOAT16 || type == onnx::TensorProto::BFLOAT16;
}

/// Whether some of the model computes in two bytes.
bool has_half(const onnx::ModelProto& model) {
  bool found = false;
  for (const onnx::TensorProto& tensor : model.graph().initializer())
    found |= is_half(tensor.data_type());
  for (const auto* list : {&model.graph().input(), &model.graph().output()})
    for (const onnx::ValueInfoProto& value : *list)
      found |= is_half(value.type().tensor_type().elem_type());
  for_all_nodes(model.graph().node(), [&](const onnx::NodeProto& node) {
    for (const onnx::AttributeProto& attribute : node.attribute())
      found |= attribute.name() == "to" && is_half(static_cast<std::int32_t>(attribute.i()));
  });
  return found;
}

[[noreturn]] void refuse_missing(const std::string& path, const std::string& name) {
  throw Error(path, fmt::format("the data of '{}' is not there, so no value can be computed", name),
              "Put random weights in its place: symprof fill.");
}

/// The tensor's data where it lies in another file.
ConstantPointer external_tensor(const onnx::TensorProto& tensor, const std::string& path) {
  std::string location;
  std::uint64_t offset = 0;
  for (const onnx::StringStringEntryProto& entry : tensor.external_data()) {
    if (entry.key() == "location") location = entry.value();
    if (entry.key() == "offset") offset = std::strtoull(entry.value().c_str(), nullptr, 10);
  }
  const auto file = std::filesystem::path(path).parent_path() / location;
  std::error_code error;
  if (location.empty() || !std::filesystem::is_regular_file(file, error))
    refuse_missing(path, tensor.name());
  const trace::MappedFile mapped(file.string());
  auto constant = std::make_shared<ConstantTensor>();
  constant->spec = trace::tensor_spec(tensor, path);
  const auto bytes = static_cast<std::uint64_t>(constant->spec.bytes());
  if (offset > mapped.bytes().size() || bytes > mapped.bytes().size() - offset)
    throw Error(file.string(), fmt::format("ends before the data of '{}'", tensor.name()));
  const auto* data = reinterpret_cast<const std::byte*>(mapped.bytes().data()) + offset;
  constant->data.assign(data, data + bytes);
  return constant;
}

/// `model` without what its values do not depend on; `weights` gets those of initializers.
onnx::ModelProto bare(const onnx::ModelProto& model, const std::string& path,
                      ValueRunner::Leaves& weights) {
  onnx::ModelProto out = model;
  out.clear_metadata_props();
  onnx::GraphProto& graph = *out.mutable_graph();
  graph.clear_metadata_props();
  graph.clear_value_info();
  for (onnx::NodeProto& node : *graph.mutable_node()) node.clear_metadata_props();
  for (onnx::TensorProto& tensor : *graph.mutable_initializer()) {
    if (tensor.data_type() == onnx::TensorProto::STRING) continue;
    const bool is_outside = tensor.data_location() == onnx::TensorProto::EXTERNAL;
    ConstantPointer value =
        is_outside ? external_tensor(tensor, path) : trace::constant_tensor(tensor, tensor.name());
    if (value->data.empty() && value->spec.numel() != 0) refuse_missing(path, tensor.name());
    weights[tensor.name()] = std::move(value);
  }
  return out;
}

class InputDrawer {
 public:
  InputDrawer(const std::string& path, const VerifyOptions& options)
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
  const VerifyOptions& options_;
  trace::SymbolTable sizes_;
  std::int64_t next_ = 2;
};

/// Adds what differs between two tensors of one dtype and shape.
void add_difference(OutputDifference& out, const std::vector<double>& wanted,
                    const std::vector<double>& got, double tolerance) {
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const double x = wanted[i], y = got[i];
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    double gap = std::fabs(x - y);
    if (!std::isfinite(gap)) gap = std::numeric_limits<double>::infinity();
    const double size = std::isfinite(x) ? std::fabs(x) : 0;
    out.absolute = std::max(out.absolute, gap);
    out.relative = std::max(out.relative, gap / (size + 1e-7));
    if (!(gap <= tolerance * std::max(1.0, size))) out.is_within = false;
  }
}

}  // namespace

Verifier::Verifier(const onnx::ModelProto& original, const std::string& path, ValueRunner runner,
                   const VerifyOptions& options)
    : path_(path), runner_(std::move(runner)) {
  tolerance_ =
      options.tolerance.value_or(has_half(original) ? tolerance_of_half : tolerance_of_float32);
  for (const onnx::ValueInfoProto& output : original.graph().output())
    names_.push_back(output.name());
  ValueRunner::Leaves weights;
  const Graph graph = trace::read_onnx(bytes_of(bare(original, path, weights), path), path,
                                       trace::Reading::as_written);
  const std::vector<std::int64_t> bounds = runner_.bounds(graph);
  InputDrawer drawer(path, options);
  for (const ValueId id : graph.inputs) {
    const Value& input = graph.value(id);
    if (input.kind == ValueKind::input && !weights.contains(input.name))
      inputs_[input.name] = drawer.draw(input, bounds[static_cast<std::size_t>(id)]);
  }
  wanted_ = run(original);
  for (const OutputDifference& difference : compare(original))
    if (!difference.is_within)
      throw Error(path,
                  fmt::format("the values of '{}' differ from run to run, so they cannot be "
                              "compared",
                              difference.name),
                  "Export the model for inference: without dropout and random numbers.");
}

std::vector<ValueRunner::Tensors> Verifier::run(const onnx::ModelProto& model) const {
  ValueRunner::Leaves leaves = inputs_;
  const Graph graph = trace::read_onnx(bytes_of(bare(model, path_, leaves), path_), path_,
                                       trace::Reading::as_written);
  try {
    return runner_.run(graph, leaves);
  } catch (const Error& error) {
    throw Error(path_, fmt::format("cannot be run on values: {}", error.summary()),
                "Values are not compared; leave that out, or give other sizes.");
  }
}

std::vector<OutputDifference> Verifier::compare(const onnx::ModelProto& model) const {
  const std::vector<ValueRunner::Tensors> got = run(model);
  std::vector<OutputDifference> differences;
  for (std::size_t i = 0; i < wanted_.size(); ++i)
    differences.push_back(compare(i < names_.size() ? names_[i] : fmt::format("output {}", i),
                                  wanted_[i], i < got.size() ? got[i] : ValueRunner::Tensors()));
  return differences;
}

OutputDifference Verifier::compare(const std::string& name, const ValueRunner::Tensors& wanted,
                                   const ValueRunner::Tensors& got) const {
  OutputDifference out{.name = name};
  if (wanted.size() != got.size())
    out.other = fmt::format("{} tensors instead of {}", got.size(), wanted.size());
  for (std::size_t i = 0; i < wanted.size() && out.other.empty(); ++i) {
    const TensorSpec &x = wanted[i]->spec, &y = got[i]->spec;
    if (x.dtype != y.dtype || x.sizes != y.sizes) {
      out.other = fmt::format("{} instead of {}", to_string(y), to_string(x));
      break;
    }
    const std::vector<double> numbers = reals_of(*wanted[i]);
    if (numbers.size() == static_cast<std::size_t>(x.numel()))
      add_difference(out, numbers, reals_of(*got[i]), tolerance_);
    else if (wanted[i]->data != got[i]->data)  // A dtype without numbers here: bit by bit.
      out.other = "other bits";
  }
  out.is_within &= out.other.empty();
  return out;
}

std::string Verifier::inputs_text() const {
  std::vector<std::string> texts;
  for (const auto& [name, value] : inputs_)
    texts.push_back(fmt::format("{} {}", name, to_string(value->spec)));
  return fmt::format("{}", fmt::join(texts, ", "));
}

}  // namespace symprof::workbench
