#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <charconv>
#include <limits>
#include <unordered_map>

#include "base/error.h"
#include "trace/dump/dump.h"
#include "trace/dump/names.h"
#include "trace/onnx/external.h"
#include "trace/onnx/mapped_file.h"
#include "trace/onnx/skim.h"
#include "trace/onnx/tensors.h"

namespace symprof::trace::dump {
namespace {

using onnx::TensorProto;

class Reader {
 public:
  Reader(std::string_view bytes, const std::string& path) : path_(path) {
    parse_model(bytes, path, model_, std::numeric_limits<std::uint64_t>::max());
    for (const TensorProto& tensor : model_.graph().initializer())
      initializers_[tensor.name()] = &tensor;
    for (const onnx::NodeProto& node : model_.graph().node())
      for (const std::string& output : node.output()) makers_[output] = &node;
  }

  Dump read() {
    std::vector<NamedLeaf> leaves;
    leaves.reserve(static_cast<std::size_t>(model_.graph().output_size()));
    for (const onnx::ValueInfoProto& output : model_.graph().output())
      leaves.emplace_back(output.name(), value_of(output.name()));
    Dump dump;
    Value whole = unflatten(leaves, path_);
    if (whole.kind == Kind::dictionary) {
      dump.entries.reserve(whole.items.size());
      for (std::size_t i = 0; i < whole.items.size(); ++i) {
        dump.entries.push_back(entry_of_key(whole.keys[i]));
        dump.entries.back().value = std::move(whole.items[i]);
      }
    } else {
      dump.entries.push_back({.value = std::move(whole)});
    }
    dump.left_out = left_out();
    return dump;
  }

 private:
  [[noreturn]] void fail(const std::string& problem) const {
    throw Error(path_, problem,
                "Wanted: a file of onnx-diagnostic's steal_forward, or of symprof dump.");
  }

  Value value_of(const std::string& output) {
    if (const auto found = initializers_.find(output); found != initializers_.end())
      return stored(*found->second);
    const auto maker = makers_.find(output);
    if (maker == makers_.end()) fail(fmt::format("no dump: nothing makes its output '{}'", output));
    const onnx::NodeProto& node = *maker->second;
    if (node.op_type() == "Identity" && node.input_size() == 1) return value_of_input(node, 0);
    if (node.op_type() == "SequenceEmpty") return container_value(Kind::list);
    if (node.op_type() == "SequenceConstruct") {
      Value list = container_value(Kind::list);
      for (int i = 0; i < node.input_size(); ++i) list.items.push_back(value_of_input(node, i));
      return list;
    }
    if (node.op_type() == "RandomNormal" || node.op_type() == "RandomUniform") return random(node);
    fail(fmt::format("no dump: its output '{}' is made by {}", output, node.op_type()));
  }

  Value value_of_input(const onnx::NodeProto& node, int position) {
    const auto found = initializers_.find(node.input(position));
    if (found == initializers_.end())
      fail(fmt::format("no dump: '{}', of which its output '{}' is made, is not stored",
                       node.input(position), node.output_size() > 0 ? node.output(0) : ""));
    return stored(*found->second);
  }

  /// Each initializer is read once, even with several outputs.
  const Value& stored(const TensorProto& tensor) {
    if (const auto known = stored_.find(&tensor); known != stored_.end()) return known->second;
    Value value;
    if (tensor.data_type() == TensorProto::STRING) {
      value = texts(tensor);
    } else {
      const bool is_outside = tensor.data_location() == TensorProto::EXTERNAL;
      value =
          tensor_value(is_outside ? external_tensor(tensor, path_) : constant_tensor(tensor, path_),
                       tensor.doc_string());
      if (value.tensor->data.empty() && value.tensor->spec.numel() != 0)
        throw Error(path_, fmt::format("the data of '{}' is not there", tensor.name()),
                    is_outside ? "Bring the file with the data into the folder of the dump."
                               : "Write the dump again.");
    }
    return stored_.emplace(&tensor, std::move(value)).first->second;
  }

  Value texts(const TensorProto& tensor) const {
    Value value;
    value.kind = Kind::array;
    value.label = tensor.doc_string();
    std::int64_t count = 1;
    bool is_known = true;
    for (const std::int64_t size : tensor.dims()) {
      is_known &= size >= 0 && !__builtin_mul_overflow(count, size, &count);
      value.string_sizes.push_back(size);
    }
    if (!is_known || count != tensor.string_data_size())
      throw Error(path_, fmt::format("'{}' has {} texts, which its sizes do not say", tensor.name(),
                                     tensor.string_data_size()));
    value.strings.assign(tensor.string_data().begin(), tensor.string_data().end());
    return value;
  }

  /// A tensor with only a known shape, written by the Python tool with randomize=True.
  Value random(const onnx::NodeProto& node) const {
    TensorProto tensor;
    tensor.set_name(node.output(0));
    tensor.set_data_type(TensorProto::FLOAT);
    for (const onnx::AttributeProto& attribute : node.attribute()) {
      if (attribute.name() == "dtype")
        tensor.set_data_type(static_cast<std::int32_t>(attribute.i()));
      if (attribute.name() == "shape") *tensor.mutable_dims() = attribute.ints();
    }
    auto constant = std::make_shared<ConstantTensor>();
    constant->spec = tensor_spec(tensor, path_);
    return tensor_value(std::move(constant));
  }

  std::vector<LeftOut> left_out() const {
    std::vector<LeftOut> list;
    for (const onnx::StringStringEntryProto& note : model_.metadata_props()) {
      if (!note.key().starts_with(left_out_key)) continue;
      const Entry entry = entry_of_key(std::string_view(note.key()).substr(left_out_key.size()));
      LeftOut left{entry.name, entry.iteration, entry.side, 0};
      std::from_chars(note.value().data(), note.value().data() + note.value().size(), left.bytes);
      list.push_back(std::move(left));
    }
    return list;
  }

  const std::string& path_;
  onnx::ModelProto model_;
  std::unordered_map<std::string, const TensorProto*> initializers_;
  std::unordered_map<std::string, const onnx::NodeProto*> makers_;
  std::unordered_map<const TensorProto*, Value> stored_;
};

}  // namespace

Dump parse_dump(std::string_view bytes, const std::string& path) {
  return Reader(bytes, path).read();
}

Dump read_dump(const std::string& path) {
  const MappedFile file(path);
  return parse_dump(file.bytes(), path);
}

}  // namespace symprof::trace::dump
