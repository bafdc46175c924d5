// Pattern-matching helpers of the rules.
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "workbench/optimize/attributes.h"
#include "workbench/optimize/editor.h"
#include "workbench/types.h"

namespace symprof::workbench {

/// True within half a unit of the seventh digit, the precision of float32 constants.
inline bool is_near(std::optional<double> number, double wanted) {
  return number && std::fabs(*number - wanted) <= 1e-6 * std::fabs(wanted);
}

/// The number of a one-element constant that does not add a dimension to a tensor of `rank`.
inline std::optional<double> scalar(const Editor& editor, const std::string& value,
                                    std::size_t rank) {
  const Type type = editor.type(value);
  if (!type.sizes || type.sizes->size() > rank) return std::nullopt;
  return editor.number(value);
}

/// For a node with two inputs of which one is a number: the other input, and the number.
struct WithNumber {
  std::string value;
  double number = 0;
  int side = 0;  ///< The position of the value.
};

inline std::optional<WithNumber> with_number(const Editor& editor, int node) {
  if (node < 0 || editor.node(node).input_size() != 2) return std::nullopt;
  for (const int side : {0, 1})
    if (const auto number = editor.number(editor.node(node).input(1 - side)))
      return WithNumber{editor.node(node).input(side), *number, side};
  return std::nullopt;
}

/// The node that makes `value` if it is ONNX's own `op` and has no other reader; else -1.
inline int private_maker(const Editor& editor, const std::string& value, std::string_view op) {
  const int node = editor.maker(value);
  return editor.is(node, op) && editor.is_private(value) ? node : -1;
}

inline std::size_t rank_of(const Editor& editor, const std::string& value) {
  const Type type = editor.type(value);
  return type.sizes ? type.sizes->size() : 0;
}

inline bool is_float(const Editor& editor, const std::string& value) {
  const auto dtype = editor.type(value).dtype();
  return dtype && is_floating_point(*dtype);
}

/// The numbers of a constant with one element for each of `channels`, at axis 1 of `rank`, or one
/// for all; empty for others.
inline std::vector<double> by_channel(const Editor& editor, const std::string& value,
                                      std::size_t rank, std::int64_t channels) {
  const ConstantPointer constant = editor.constant(value);
  if (!constant || constant->spec.sizes.size() > rank || channels < 1 || rank < 2) return {};
  const auto& sizes = constant->spec.sizes;
  auto all = reals_of(*constant);
  if (all.size() == 1) return std::vector<double>(static_cast<std::size_t>(channels), all[0]);
  if (constant->spec.numel() != channels) return {};
  const std::size_t behind = rank - 2;  // Axes after the channels.
  if (sizes.size() <= behind || sizes[sizes.size() - 1 - behind] != channels) return {};
  return all;
}

/// True if `axis`, which may be negative, is the last of a value's axes.
inline bool is_last_axis(const Editor& editor, const std::string& value, std::int64_t axis) {
  const auto rank = static_cast<std::int64_t>(rank_of(editor, value));
  return rank > 0 && (axis == -1 || axis == rank - 1);
}

/// Makes readers of the node's first output read `by`, and removes the node. False if they cannot.
inline bool pass(Editor& editor, int node, const std::string& by) {
  const std::string value = editor.node(node).output(0);
  if (!editor.can_replace(value, by)) return false;
  editor.replace(value, by);
  editor.remove(node);
  return true;
}

/// The same, and removes producers that only the node read.
inline bool pass_and_drop(Editor& editor, int node, const std::string& by) {
  const onnx::NodeProto old = editor.node(node);
  if (!pass(editor, node, by)) return false;
  editor.drop_unread(old);
  return true;
}

/// Replaces `node` by `made`, which reads `inputs` and makes the same output and those of `more`,
/// and removes producers that only `node` read. Returns the new node.
inline int become(Editor& editor, int node, onnx::NodeProto made,
                  const std::vector<std::string>& inputs,
                  const std::vector<std::string>& more = {}) {
  for (const std::string& input : inputs) made.add_input(input);
  made.add_output(editor.node(node).output(0));
  for (const std::string& output : more) made.add_output(output);
  const onnx::NodeProto old = editor.node(node);
  editor.remove(node);
  const int added = editor.add(std::move(made), node);
  editor.drop_unread(old);
  return added;
}

inline onnx::NodeProto node_of(std::string_view op, std::string_view domain = "") {
  onnx::NodeProto made;
  made.set_op_type(std::string(op));
  made.set_domain(std::string(domain));
  return made;
}

}  // namespace symprof::workbench
