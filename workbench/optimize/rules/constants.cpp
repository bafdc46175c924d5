// before                          after
//   c = Add(2, 3)                   c = 5, an initializer
//   y = Shape(x)  x: float[2,8]     y = [2, 8]
//   y = CastLike(1, x)              y = 1 in the dtype of x
// A folded result has at most twice the size of its operands, or 4,096 elements.
#include <algorithm>
#include <stdexcept>

#include "workbench/optimize/attributes.h"
#include "workbench/optimize/partial_values.h"
#include "workbench/optimize/rule.h"
#include "workbench/types.h"

namespace symprof::workbench::rules {
namespace {

constexpr std::int64_t small = 4096, large_weight = 1 << 20;

/// A Where of constants that drops what a Cast of infinity left undefined (relative positions in
/// buckets by their logarithm).
bool fold_choice(Editor& editor, int node) {
  const onnx::NodeProto& proto = editor.node(node);
  if (!editor.is(node, "Where") || proto.input_size() != 3) return false;
  const ConstantPointer condition = editor.constant(proto.input(0));
  if (!condition) return false;
  const auto x = partial_value(editor, proto.input(1)), y = partial_value(editor, proto.input(2));
  if (!x || !y) return false;
  const ConstantPointer value = chosen(proto, condition, *x, *y);
  return value && editor.fold(node, {value});
}

}  // namespace

bool fold_constant(Editor& editor, int node) {
  const onnx::NodeProto& proto = editor.node(node);
  if (proto.input_size() == 0) return false;
  std::vector<ConstantPointer> inputs;
  std::int64_t elements = 0;
  for (const std::string& input : proto.input()) {
    inputs.push_back(input.empty() ? nullptr : editor.constant(input));
    if (!input.empty() && !inputs.back()) return fold_choice(editor, node);
    if (!inputs.back()) continue;
    const std::int64_t count = inputs.back()->spec.numel();
    // A large weight with other readers would be in the file twice.
    if (count > large_weight && editor.readers(input).size() > 1) return false;
    elements += count;
  }
  const auto results = evaluate(proto, inputs, std::max(2 * elements, small));
  if (!results || static_cast<int>(results->size()) != proto.output_size()) return false;
  return editor.fold(node, *results);
}

// Folds Shape where the requested dimensions are known.
bool fold_shape(Editor& editor, int node) {
  if (!editor.is(node, "Shape")) return false;
  const Type type = editor.type(editor.node(node).input(0));
  if (!type.sizes) return false;
  const auto rank = static_cast<std::int64_t>(type.sizes->size());
  const auto bound = [&](std::int64_t at) {
    return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank);
  };
  const std::int64_t start = bound(integer(editor.node(node), "start", 0)),
                     end = bound(integer(editor.node(node), "end", rank));
  std::vector<std::int64_t> values;
  for (std::int64_t i = start; i < end; ++i) {
    const Size& size = (*type.sizes)[static_cast<std::size_t>(i)];
    if (!size.is_known()) return false;
    values.push_back(size.number);
  }
  const auto count = static_cast<std::int64_t>(values.size());
  return editor.fold(node, {make_integers({count}, values)});
}

bool fold_cast_like(Editor& editor, int node) {
  if (!editor.is(node, "CastLike")) return false;
  const ConstantPointer value = editor.constant(editor.node(node).input(0));
  const std::int32_t wanted = editor.type(editor.node(node).input(1)).element;
  if (!value || wanted == 0 || value->spec.numel() > small) return false;
  onnx::NodeProto cast;
  cast.set_op_type("Cast");
  set_integer(cast, "to", wanted);
  const auto results = evaluate(cast, {value}, small);
  return results && editor.fold(node, *results);
}

}  // namespace symprof::workbench::rules
