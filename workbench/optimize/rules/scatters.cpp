// before                                                     after
//   z = zeros                                                  y = Pad(u), zeros around it
//   y = Transpose(ScatterND(z, [k..n], Transpose(u)))          (also without the Transposes)
//   y = Add(Pad(a) before, Pad(b) behind) of one axis          y = Concat(b, a), where both fill it
// The exporter writes x[..., k:n] = u, and the gradient of a slice, in the first way.
#include <algorithm>

#include "workbench/optimize/attributes.h"
#include "workbench/optimize/rule.h"

namespace symprof::workbench::rules {
namespace {

bool is_zero(const ConstantTensor& tensor) {
  return std::all_of(tensor.data.begin(), tensor.data.end(),
                     [](std::byte one) { return one == std::byte{0}; });
}

/// The first row if `indices`, [n, 1], are consecutive rows; else -1.
std::int64_t first_row(const ConstantTensor& indices) {
  if (indices.spec.sizes.size() != 2 || indices.spec.sizes[1] != 1) return -1;
  const auto rows = integers_of(indices);
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (rows[i] != rows[0] + static_cast<std::int64_t>(i)) return -1;
  return rows.empty() ? -1 : rows[0];
}

/// The Transpose with a single reader that makes `value`; else -1.
int private_transpose(const Editor& editor, const std::string& value) {
  const int node = editor.maker(value);
  return editor.is(node, "Transpose") && editor.is_private(value) ? node : -1;
}

/// The padding of a constant Pad of zeros; empty for other nodes.
std::vector<std::int64_t> zero_pads(const Editor& editor, const std::string& value) {
  const int node = editor.maker(value);
  if (!editor.is(node, "Pad") || editor.node(node).input_size() < 2 ||
      editor.node(node).input_size() > 3)
    return {};
  const onnx::NodeProto& proto = editor.node(node);
  const auto* mode = find_attribute(proto, "mode");
  if (mode && mode->s() != "constant") return {};
  if (proto.input_size() == 3 && !proto.input(2).empty() && editor.number(proto.input(2)) != 0.0)
    return {};
  const ConstantPointer pads = editor.constant(proto.input(1));
  return pads ? integers_of(*pads) : std::vector<std::int64_t>();
}

}  // namespace

bool scatter_to_pad(Editor& editor, int node) {
  if (!editor.is(node, "ScatterND") || editor.opset() < 13) return false;
  const onnx::NodeProto scatter = editor.node(node);
  if (const auto* reduction = find_attribute(scatter, "reduction");
      reduction && reduction->s() != "none")
    return false;
  const ConstantPointer zeros = editor.constant(scatter.input(0)),
                        indices = editor.constant(scatter.input(1));
  if (!zeros || !indices || !is_zero(*zeros) || zeros->spec.sizes.empty()) return false;
  const std::int64_t row = first_row(*indices);
  if (row < 0 || row + indices->spec.sizes[0] > zeros->spec.sizes[0]) return false;
  // Transposes on both sides that cancel are removed too: they only change the axis.
  std::string source = scatter.input(2), result = scatter.output(0);
  std::int64_t axis = 0;
  const int before = private_transpose(editor, source);
  int after = -1;
  if (before >= 0 && editor.is_private(result)) {
    after = editor.readers(result).front();
    const auto first = integers(editor.node(before), "perm");
    const auto second = editor.is(after, "Transpose") ? integers(editor.node(after), "perm")
                                                      : std::vector<std::int64_t>();
    bool undoes = !first.empty() && first.size() == second.size() && is_permutation(first) &&
                  is_permutation(second) && first.size() == zeros->spec.sizes.size();
    for (std::size_t i = 0; undoes && i < second.size(); ++i)
      undoes = first[static_cast<std::size_t>(second[i])] == static_cast<std::int64_t>(i);
    if (undoes) {
      source = editor.node(before).input(0);
      result = editor.node(after).output(0);
      axis = first[0];
    } else {
      after = -1;
    }
  }
  const auto rank = static_cast<std::int64_t>(zeros->spec.sizes.size());
  std::vector<std::int64_t> pads(static_cast<std::size_t>(2 * rank), 0);
  pads[static_cast<std::size_t>(axis)] = row;
  pads[static_cast<std::size_t>(rank + axis)] = zeros->spec.sizes[0] - row - indices->spec.sizes[0];
  onnx::NodeProto made;
  made.set_op_type("Pad");
  made.add_input(source);
  made.add_input(editor.add_constant(make_integers({2 * rank}, pads), result + "_pads"));
  made.add_output(result);
  editor.remove(node);
  if (after >= 0) {
    editor.remove(after);
    editor.remove(before);
  }
  editor.add(made, node);
  return true;
}

bool pads_to_concat(Editor& editor, int node) {
  if (!editor.is(node, "Add")) return false;
  const std::string a = editor.node(node).input(0), b = editor.node(node).input(1);
  const auto of_a = zero_pads(editor, a), of_b = zero_pads(editor, b);
  const Type result = editor.type(a);
  if (of_a.empty() || of_a.size() != of_b.size() || a == b || !editor.is_private(a) ||
      !editor.is_private(b) || !result.same(editor.type(b)) || !result.is_static())
    return false;
  const std::size_t rank = of_a.size() / 2;
  std::int64_t axis = -1;
  for (std::size_t i = 0; i < rank; ++i) {
    if (of_a[i] == 0 && of_a[rank + i] == 0 && of_b[i] == 0 && of_b[rank + i] == 0) continue;
    if (axis >= 0) return false;
    axis = static_cast<std::int64_t>(i);
  }
  if (axis < 0) return false;
  const auto at = static_cast<std::size_t>(axis);
  const std::int64_t size = (*result.sizes)[at].number;
  const bool a_first = of_a[at] == 0 && of_b[rank + at] == 0 && of_a[rank + at] + of_b[at] == size;
  const bool b_first = of_b[at] == 0 && of_a[rank + at] == 0 && of_b[rank + at] + of_a[at] == size;
  if (!a_first && !b_first) return false;
  const int pad_a = editor.maker(a), pad_b = editor.maker(b);
  onnx::NodeProto made;
  made.set_op_type("Concat");
  made.add_input(editor.node(a_first ? pad_a : pad_b).input(0));
  made.add_input(editor.node(a_first ? pad_b : pad_a).input(0));
  made.add_output(editor.node(node).output(0));
  set_integer(made, "axis", axis);
  editor.remove(node);
  editor.remove(pad_a);
  editor.remove(pad_b);
  editor.add(made, node);
  return true;
}

}  // namespace symprof::workbench::rules
