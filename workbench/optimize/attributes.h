// Attributes of nodes, with ONNX's defaults.
#pragma once

#include <onnx/onnx_pb.h>

#include <string>
#include <string_view>
#include <vector>

namespace symprof::workbench {

inline const onnx::AttributeProto* find_attribute(const onnx::NodeProto& node,
                                                  std::string_view name) {
  for (const onnx::AttributeProto& attribute : node.attribute())
    if (attribute.name() == name) return &attribute;
  return nullptr;
}

inline std::int64_t integer(const onnx::NodeProto& node, std::string_view name,
                            std::int64_t otherwise) {
  const auto* attribute = find_attribute(node, name);
  return attribute ? attribute->i() : otherwise;
}

inline float real(const onnx::NodeProto& node, std::string_view name, float otherwise) {
  const auto* attribute = find_attribute(node, name);
  return attribute ? attribute->f() : otherwise;
}

inline std::vector<std::int64_t> integers(const onnx::NodeProto& node, std::string_view name) {
  const auto* attribute = find_attribute(node, name);
  if (!attribute) return {};
  return {attribute->ints().begin(), attribute->ints().end()};
}

/// True if `perm` contains each of its axes once.
inline bool is_permutation(const std::vector<std::int64_t>& perm) {
  std::vector<bool> seen(perm.size());
  for (const std::int64_t axis : perm) {
    if (axis < 0 || axis >= static_cast<std::int64_t>(perm.size()) ||
        seen[static_cast<std::size_t>(axis)])
      return false;
    seen[static_cast<std::size_t>(axis)] = true;
  }
  return true;
}

/// The attribute of this name, added to the node if it has none.
inline onnx::AttributeProto& attribute_to_set(onnx::NodeProto& node, std::string_view name,
                                              onnx::AttributeProto::AttributeType type) {
  for (onnx::AttributeProto& attribute : *node.mutable_attribute())
    if (attribute.name() == name) return attribute;
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(std::string(name));
  attribute.set_type(type);
  return attribute;
}

inline void set_integer(onnx::NodeProto& node, std::string_view name, std::int64_t value) {
  attribute_to_set(node, name, onnx::AttributeProto::INT).set_i(value);
}

inline void set_real(onnx::NodeProto& node, std::string_view name, float value) {
  attribute_to_set(node, name, onnx::AttributeProto::FLOAT).set_f(value);
}

inline void set_integers(onnx::NodeProto& node, std::string_view name,
                         const std::vector<std::int64_t>& values) {
  attribute_to_set(node, name, onnx::AttributeProto::INTS)
      .mutable_ints()
      ->Assign(values.begin(), values.end());
}

inline void set_text(onnx::NodeProto& node, std::string_view name, const std::string& value) {
  attribute_to_set(node, name, onnx::AttributeProto::STRING).set_s(value);
}

}  // namespace symprof::workbench
