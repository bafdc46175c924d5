// A dump as an ONNX model: names of leaves as onnx-diagnostic's _flatten_iterator makes them.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "trace/dump/dump.h"
#include "trace/dump/names.h"
#include "trace/onnx/tensors.h"

namespace symprof::trace::dump {
namespace {

using onnx::TensorProto;

constexpr std::int64_t least_external_bytes = 1024;  // As onnx.save: size_threshold.

/// The first operator set whose Identity takes the type, and the first IR that has it (onnx.proto,
/// onnx/docs/Operators.md).
struct Versions {
  std::int64_t opset = 18, ir = 10;
};

Versions versions_of(DType dtype) {
  switch (dtype) {
    case DType::float8_e4m3fn:
    case DType::float8_e4m3fnuz:
    case DType::float8_e5m2:
    case DType::float8_e5m2fnuz:
      return {19, 10};
    case DType::int4:
    case DType::uint4:
      return {21, 10};
    case DType::float4_e2m1:
      return {23, 11};
    case DType::float8_e8m0fnu:
      return {24, 12};
    case DType::int2:
    case DType::uint2:
      return {25, 13};
    default:
      return {};
  }
}

/// True if torch converts the dtype from numpy, or onnx-diagnostic does.
bool is_torch_from_numpy(DType dtype) {
  return element_bits(dtype) >= 8 && !(is_floating_point(dtype) && element_bits(dtype) < 16);
}

std::string kind_name(const Value& value) {
  switch (value.kind) {
    case Kind::integer:
      return "int";
    case Kind::real:
      return "float";
    case Kind::boolean:
      return "bool";
    case Kind::none:
      return "empty";  // Below a position: Python reads None there.
    default:
      break;
  }
  const bool is_tensor =
      value.kind == Kind::tensor && value.tensor && is_torch_from_numpy(value.tensor->spec.dtype);
  return is_tensor ? "tensor" : "array";
}

class Writer {
 public:
  Writer(std::string location, std::int64_t most_inline)
      : location_(std::move(location)), most_inline_(most_inline) {
    model_.mutable_graph()->set_name("mini_model");
  }

  Written write(const Dump& dump) {
    for (const Entry& entry : dump.entries)
      for_each_leaf(entry.value, [&](const std::string&, const Value& leaf) {
        if (leaf.tensor) bytes_ += static_cast<std::int64_t>(leaf.tensor->data.size());
      });
    for (std::size_t i = 0; i < dump.entries.size(); ++i) {
      const bool is_last = i + 1 == dump.entries.size();
      add(dump.entries[i].value, part("dict", '_' + key_of(dump.entries[i]), is_last));
    }
    for (const LeftOut& left : dump.left_out) {
      auto* note = model_.add_metadata_props();
      note->set_key(
          fmt::format("{}{}", left_out_key, key_of({left.name, left.iteration, left.side, {}})));
      note->set_value(fmt::format("{}", left.bytes));
    }
    model_.set_ir_version(versions_.ir);
    model_.set_producer_name("symprof");
    model_.add_opset_import()->set_version(versions_.opset);
    model_.set_doc_string(doc_string(dump));
    Written written{.data = std::move(data_)};
    if (model_.ByteSizeLong() >= std::uint64_t{1} << 31 ||
        !model_.SerializeToString(&written.model))
      throw Error(location_, "the dump has 2 GiB and more beside its large tensors",
                  "Choose fewer modules.");
    return written;
  }

 private:
  /// "tuple_0", or "tuple_0." for the last one; "dict_key" or "dict._key".
  static std::string part(std::string_view container, const std::string& rest, bool is_last) {
    const bool is_keyed = rest.starts_with('_');
    if (!is_keyed) return fmt::format("{}_{}{}", container, rest, is_last ? "." : "");
    return fmt::format("{}{}{}", container, is_last ? "." : "", rest);
  }

  static std::string_view container_name(const Value& value) {
    if (value.kind == Kind::list) return "list";
    if (value.kind == Kind::tuple) return "tuple";
    return value.kind == Kind::cache ? std::string_view(value.class_name) : "dict";
  }

  void add(const Value& value, const std::string& path) {
    if (!value.is_container())
      return add_leaf(value, fmt::format("{}{}{}", path, separator, kind_name(value)));
    if (value.items.empty())
      return add_leaf(
          {}, fmt::format("{}{}{}.{}empty", path, separator, container_name(value), separator));
    for (std::size_t i = 0; i < value.items.size(); ++i) {
      const std::string rest =
          value.keys.empty() ? fmt::format("{}", i) : '_' + safe_key(value.keys[i]);
      add(value.items[i],
          fmt::format("{}{}{}", path, separator,
                      part(container_name(value), rest, i + 1 == value.items.size())));
    }
  }

  void add_leaf(const Value& value, const std::string& name) {
    if (!names_.insert(name).second)
      throw Error(name, "two values of a dump have this name", "Give one of them another name.");
    TensorProto& tensor = *model_.mutable_graph()->add_initializer();
    tensor.set_name("t_" + name);
    if (!value.label.empty()) tensor.set_doc_string(value.label);
    fill(tensor, value);
    onnx::NodeProto& node = *model_.mutable_graph()->add_node();
    node.set_op_type("Identity");
    node.add_input(tensor.name());
    node.add_output(name);
    onnx::ValueInfoProto& output = *model_.mutable_graph()->add_output();
    output.set_name(name);
    auto& type = *output.mutable_type()->mutable_tensor_type();
    type.set_elem_type(tensor.data_type());
    type.mutable_shape();
    for (const std::int64_t size : tensor.dims())
      type.mutable_shape()->add_dim()->set_dim_value(size);
  }

  void fill(TensorProto& tensor, const Value& value) {
    if (value.is_text()) {
      tensor.set_data_type(TensorProto::STRING);
      for (const std::int64_t size : value.string_sizes) tensor.add_dims(size);
      for (const std::string& text : value.strings) tensor.add_string_data(text);
      return;
    }
    if (!value.tensor) {  // Nothing, as numpy.array([]): no number of float64.
      tensor.set_data_type(TensorProto::DOUBLE);
      tensor.add_dims(0);
      tensor.set_raw_data("");
      return;
    }
    const TensorSpec& spec = value.tensor->spec;
    const std::int32_t type = onnx_element_type(spec.dtype);
    if (type == TensorProto::UNDEFINED)
      throw Error(tensor.name(), fmt::format("ONNX has no {}", symprof::name(spec.dtype)),
                  "Leave the module out, or convert the tensor before.");
    const Versions needed = versions_of(spec.dtype);
    versions_.opset = std::max(versions_.opset, needed.opset);
    versions_.ir = std::max(versions_.ir, needed.ir);
    tensor.set_data_type(type);
    for (const std::int64_t size : spec.sizes) tensor.add_dims(size);
    put_data(tensor,
             {reinterpret_cast<const char*>(value.tensor->data.data()), value.tensor->data.size()});
  }

  void put_data(TensorProto& tensor, std::string_view bytes) {
    if (bytes_ <= most_inline_ || static_cast<std::int64_t>(bytes.size()) < least_external_bytes) {
      tensor.set_raw_data(bytes.data(), bytes.size());
      return;
    }
    tensor.set_data_location(TensorProto::EXTERNAL);
    const std::pair<const char*, std::string> facts[] = {
        {"location", location_},
        {"offset", fmt::format("{}", data_.size())},
        {"length", fmt::format("{}", bytes.size())}};
    for (const auto& [key, text] : facts) {
      auto* fact = tensor.add_external_data();
      fact->set_key(key);
      fact->set_value(text);
    }
    data_ += bytes;
  }

  static std::string doc_string(const Dump& dump) {
    std::vector<std::string> texts;
    texts.reserve(dump.entries.size());
    for (const Entry& entry : dump.entries)
      texts.push_back(fmt::format("{}:{}", key_text(entry), text_of(entry.value)));
    return fmt::format("dict({})", fmt::join(texts, ","));
  }

  std::string location_;
  std::int64_t most_inline_ = 0;
  onnx::ModelProto model_;
  std::set<std::string> names_;
  std::string data_;
  std::int64_t bytes_ = 0;
  Versions versions_;
};

}  // namespace

Written write_dump(const Dump& dump, const std::string& location, std::int64_t most_inline) {
  return Writer(location, most_inline).write(dump);
}

}  // namespace symprof::trace::dump
