// Attributes of nodes, with ONNX's defaults.
#pragma once

#include <onnx/onnx_pb.h>

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

/// Whether `perm` names each of its axes once.
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

inline void set_integer(onnx::NodeProto& node, const std::string& name, std::int64_t value) {
  auto* attribute = node.add_attribute();
  attribute->set_name(name);
  attribute->set_type(onnx::AttributeProto::INT);
  attribute->set_i(value);
}

inline void set_real(onnx::NodeProto& node, const std::string& name, float value) {
  auto* attribute = node.add_attribute();
  attribute->set_name(name);
  attribute->set_type(onnx::AttributeProto::FLOAT);
  attribute->set_f(value);
}

inline void set_integers(onnx::NodeProto& node, const std::string& name,
                         const std::vector<std::int64_t>& values) {
  auto* attribute = node.add_attribute();
  attribute->set_name(name);
  attribute->set_type(onnx::AttributeProto::INTS);
  for (const std::int64_t value : values) attribute->add_ints(value);
}

inline void set_text(onnx::NodeProto& node, const std::string& name, const std::string& value) {
  auto* attribute = node.add_attribute();
  attribute->set_name(name);
  attribute->set_type(onnx::AttributeProto::STRING);
  attribute->set_s(value);
}

}  // namespace symprof::workbench
