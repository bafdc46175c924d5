// before                                   after
//   y = Transpose(Transpose(x, p), q)        y = Transpose(x, p[q])
//   y = Reshape(Squeeze(x), …)               y = Reshape(x, shape of y)
//     (any of Reshape, Squeeze, Unsqueeze, Flatten after any other)
//   y = Reshape(x, Concat(Shape(…), …))      y = Reshape(x, [2, -1, 16]), where one size is open
//   y = Add(x, Expand(s, shape))             y = Add(x, s), where broadcasting gives the same
//   y = Squeeze(ReduceMean(x, keepdims=1))   y = ReduceMean(x, keepdims=0)
//   y = Reshape(Squeeze(x)) of the type of x y = x
//   y = Unsqueeze(Unsqueeze(x, [0]), [1])    y = Unsqueeze(x, [0, 1])
//   y = Mul(Div(Expand(s), 16), x)           y = Mul(Div(s, 16), x)
//   a = Slice(x)[:n], b = Slice(x)[n:]       a, b = Split(x, [n, m])
#include <algorithm>
#include <array>
#include <string_view>

#include "workbench/optimize/attributes.h"
#include "workbench/optimize/patterns.h"
#include "workbench/optimize/rule.h"
#include "workbench/types.h"

namespace symprof::workbench::rules {
namespace {

bool is_reshape(const Editor& editor, int node) {
  return editor.is(node, "Reshape") || editor.is(node, "Squeeze") || editor.is(node, "Unsqueeze") ||
         editor.is(node, "Flatten");
}

/// A shape for Reshape that gives `type`, with one symbolic size at most. A 0 would mean the
/// input's size, so an empty tensor has none.
ConstantPointer shape_of(const Type& type) {
  if (!type.sizes) return nullptr;
  std::vector<std::int64_t> sizes;
  int open = 0;
  for (const Size& size : *type.sizes) {
    if (size.number == 0) return nullptr;
    open += !size.is_known();
    sizes.push_back(size.is_known() ? size.number : -1);
  }
  const auto rank = static_cast<std::int64_t>(sizes.size());
  return open <= 1 ? make_integers({rank}, sizes) : nullptr;
}

/// With 0 for sizes that equal the same axis of `source`.
ConstantPointer shape_of(const Type& type, const Type& source) {
  if (ConstantPointer simple = shape_of(type)) return simple;
  if (!type.sizes || !source.sizes) return nullptr;
  std::vector<std::int64_t> sizes;
  int open = 0;
  for (std::size_t i = 0; i < type.sizes->size(); ++i) {
    const Size& size = (*type.sizes)[i];
    if (size.number == 0) return nullptr;
    const bool kept = !size.is_known() && i < source.sizes->size() && size.same((*source.sizes)[i]);
    open += !size.is_known() && !kept;
    sizes.push_back(size.is_known() ? size.number : kept ? 0 : -1);
  }
  const auto rank = static_cast<std::int64_t>(sizes.size());
  return open <= 1 ? make_integers({rank}, sizes) : nullptr;
}

void reshape(Editor& editor, int node, const std::string& source, const ConstantPointer& shape) {
  onnx::NodeProto made;
  made.set_op_type("Reshape");
  made.add_input(source);
  made.add_input(editor.add_constant(shape, editor.node(node).output(0) + "_shape"));
  made.add_output(editor.node(node).output(0));
  editor.remove(node);
  editor.add(made, node);
}

}  // namespace

bool merge_transposes(Editor& editor, int node) {
  if (!editor.is(node, "Transpose")) return false;
  const int inner = editor.maker(editor.node(node).input(0));
  if (!editor.is(inner, "Transpose") || !editor.is_private(editor.node(node).input(0)))
    return false;
  const auto first = integers(editor.node(inner), "perm"),
             second = integers(editor.node(node), "perm");
  if (first.empty() || first.size() != second.size() || !is_permutation(first) ||
      !is_permutation(second))
    return false;
  std::vector<std::int64_t> both = second;
  for (std::int64_t& axis : both) axis = first[static_cast<std::size_t>(axis)];
  onnx::NodeProto made;
  made.set_op_type("Transpose");
  made.add_input(editor.node(inner).input(0));
  made.add_output(editor.node(node).output(0));
  set_integers(made, "perm", both);
  editor.remove(node);
  editor.remove(inner);
  editor.add(made, node);
  return true;
}

bool merge_reshapes(Editor& editor, int node) {
  if (!is_reshape(editor, node)) return false;
  const std::string middle = editor.node(node).input(0);
  const int inner = editor.maker(middle);
  if (!is_reshape(editor, inner)) return false;
  const std::string source = editor.node(inner).input(0);
  const bool alone = editor.is_private(middle);
  if (!alone) return false;
  const ConstantPointer shape =
      shape_of(editor.type(editor.node(node).output(0)), editor.type(source));
  if (!shape) return false;
  editor.remove(inner);
  reshape(editor, node, source, shape);
  return true;
}

bool constant_target_shape(Editor& editor, int node) {
  if (!editor.is(node, "Reshape") || editor.is_constant(editor.node(node).input(1))) return false;
  const std::string source = editor.node(node).input(0);
  const ConstantPointer shape =
      shape_of(editor.type(editor.node(node).output(0)), editor.type(source));
  if (!shape) return false;
  reshape(editor, node, source, shape);
  return true;
}

bool undo_reshape(Editor& editor, int node) {
  if (!is_reshape(editor, node)) return false;
  const int inner = editor.maker(editor.node(node).input(0));
  if (!is_reshape(editor, inner)) return false;
  const std::string value = editor.node(node).output(0), source = editor.node(inner).input(0);
  return editor.type(value).same(editor.type(source)) && pass(editor, node, source);
}

bool merge_unsqueezes(Editor& editor, int node) {
  if (!editor.is(node, "Unsqueeze") || editor.opset() < 13) return false;
  const std::string middle = editor.node(node).input(0);
  const int inner = editor.maker(middle);
  if (!editor.is(inner, "Unsqueeze") || !editor.is_private(middle)) return false;
  const ConstantPointer first = editor.constant(editor.node(inner).input(1)),
                        second = editor.constant(editor.node(node).input(1));
  const Type result = editor.type(editor.node(node).output(0));
  if (!first || !second || !result.sizes) return false;
  const std::size_t rank = result.sizes->size(),
                    inside = static_cast<std::size_t>(second->spec.numel());
  std::vector<bool> is_new(rank), is_new_inside(rank - inside);
  const auto are_axes = [](const ConstantTensor& axes, std::size_t of) {
    const auto limit = static_cast<std::int64_t>(of);
    const auto numbers = integers_of(axes);
    return std::all_of(numbers.begin(), numbers.end(),
                       [&](std::int64_t axis) { return axis >= -limit && axis < limit; });
  };
  if (inside > rank || !are_axes(*second, rank) || !are_axes(*first, rank - inside)) return false;
  for (const std::int64_t axis : integers_of(*second))
    is_new[static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis)] =
        true;
  for (const std::int64_t axis : integers_of(*first))
    is_new_inside[static_cast<std::size_t>(
        axis < 0 ? axis + static_cast<std::int64_t>(rank - inside) : axis)] = true;
  std::vector<std::int64_t> axes;
  std::size_t at = 0;
  for (std::size_t i = 0; i < rank; ++i)
    if (is_new[i] || (at < is_new_inside.size() && is_new_inside[at++]))
      axes.push_back(static_cast<std::int64_t>(i));
  onnx::NodeProto made;
  made.set_op_type("Unsqueeze");
  made.add_input(editor.node(inner).input(0));
  const auto count = static_cast<std::int64_t>(axes.size());
  made.add_input(editor.add_constant(make_integers({count}, axes), middle + "_axes"));
  made.add_output(editor.node(node).output(0));
  editor.remove(node);
  editor.remove(inner);
  editor.add(made, node);
  return true;
}

namespace {

/// Follows a value through sums and products with numbers and without other readers. Returns all
/// values of that chain, the last one last.
std::vector<std::string> scalar_chain(const Editor& editor, const std::string& value) {
  std::vector<std::string> chain{value};
  while (editor.is_private(chain.back())) {
    const int reader = editor.readers(chain.back()).front();
    const bool is_arithmetic = editor.is(reader, "Mul") || editor.is(reader, "Div") ||
                               editor.is(reader, "Add") || editor.is(reader, "Sub");
    if (!is_arithmetic || editor.node(reader).input_size() != 2) break;
    const std::string& other =
        editor.node(reader).input(editor.node(reader).input(0) == chain.back() ? 1 : 0);
    const Type type = editor.type(other);
    if (!editor.number(other) || !type.sizes || !type.sizes->empty()) break;
    chain.push_back(editor.node(reader).output(0));
  }
  return chain;
}

}  // namespace

bool drop_expand(Editor& editor, int node) {
  if (!editor.is(node, "Expand")) return false;
  const std::string source = editor.node(node).input(0);
  const std::vector<std::string> chain = scalar_chain(editor, editor.node(node).output(0));
  const std::string& value = chain.back();
  if (!editor.is_private(value)) return false;
  const int reader = editor.readers(value).front();
  constexpr std::array<std::string_view, 15> broadcasting = {
      "Add",         "Sub", "Mul", "Div", "Pow",   "Equal", "Greater", "Less", "GreaterOrEqual",
      "LessOrEqual", "And", "Or",  "Xor", "Where", "Mod"};
  if (std::none_of(broadcasting.begin(), broadcasting.end(),
                   [&](std::string_view op) { return editor.is(reader, op); }))
    return false;
  // The other operands alone must give the result's shape: on each axis one has the full size.
  const Type result = editor.type(editor.node(reader).output(0));
  if (!result.sizes) return false;
  std::vector<Type> others{editor.type(source)};
  for (const std::string& input : editor.node(reader).input())
    if (input != value) others.push_back(editor.type(input));
  for (std::size_t i = 0; i < result.sizes->size(); ++i) {
    const Size& size = (*result.sizes)[result.sizes->size() - 1 - i];
    if (std::none_of(others.begin(), others.end(), [&](const Type& other) {
          return other.sizes && i < other.sizes->size() &&
                 (*other.sizes)[other.sizes->size() - 1 - i].same(size);
        }))
      return false;
  }
  for (std::size_t i = 1; i < chain.size(); ++i) editor.set_type(chain[i], editor.type(source));
  editor.replace(chain.front(), source);
  editor.remove(node);
  return true;
}

bool squeeze_in_reduce(Editor& editor, int node) {
  if (!editor.is(node, "Squeeze") && !editor.is(node, "Reshape")) return false;
  const std::string middle = editor.node(node).input(0);
  const int reduce = editor.maker(middle);
  if (reduce < 0 || !editor.is_private(middle) ||
      !editor.node(reduce).op_type().starts_with("Reduce") ||
      !plain_domain(editor.node(reduce).domain()).empty() ||
      integer(editor.node(reduce), "keepdims", 1) == 0)
    return false;
  const onnx::NodeProto& old = editor.node(reduce);
  const Type source = editor.type(old.input(0)), result = editor.type(editor.node(node).output(0));
  if (!source.sizes || !result.sizes) return false;
  const auto rank = static_cast<std::int64_t>(source.sizes->size());
  const auto axes = editor.integers_at(reduce, 1, "axes");
  if (!axes) return false;
  if (axes->empty() && integer(old, "noop_with_empty_axes", 0) != 0) return false;
  std::vector<Size> kept;
  for (std::int64_t i = 0; i < rank; ++i) {
    const bool reduced =
        axes->empty() || std::any_of(axes->begin(), axes->end(), [&](std::int64_t axis) {
          return (axis < 0 ? axis + rank : axis) == i;
        });
    if (!reduced) kept.push_back((*source.sizes)[static_cast<std::size_t>(i)]);
  }
  if (kept.size() != result.sizes->size() ||
      !std::equal(kept.begin(), kept.end(), result.sizes->begin(),
                  [](const Size& a, const Size& b) { return a.same(b); }))
    return false;
  onnx::NodeProto made = old;
  set_integer(made, "keepdims", 0);
  made.set_output(0, editor.node(node).output(0));
  editor.remove(node);
  editor.remove(reduce);
  editor.add(made, reduce);
  return true;
}

namespace {

/// A Slice of one axis with step 1 and a known size.
struct Cut {
  std::int64_t axis = -1, begin = 0, end = 0;
};

std::optional<Cut> cut_of(const Editor& editor, int node) {
  if (!editor.is(node, "Slice") || editor.node(node).input_size() < 4) return std::nullopt;
  const onnx::NodeProto& proto = editor.node(node);
  std::array<std::int64_t, 4> numbers{0, 0, 0, 1};
  for (int i = 1; i < proto.input_size(); ++i) {
    const ConstantPointer value = editor.constant(proto.input(i));
    if (!value || value->spec.numel() != 1) return std::nullopt;
    numbers[static_cast<std::size_t>(i - 1)] = integers_of(*value).front();
  }
  const Type type = editor.type(proto.input(0));
  if (!type.sizes || numbers[3] != 1) return std::nullopt;
  const auto rank = static_cast<std::int64_t>(type.sizes->size());
  const std::int64_t axis = numbers[2] < 0 ? numbers[2] + rank : numbers[2];
  if (axis < 0 || axis >= rank) return std::nullopt;
  const Size& size = (*type.sizes)[static_cast<std::size_t>(axis)];
  if (!size.is_known()) return std::nullopt;
  const auto bound = [&](std::int64_t at) {
    return std::clamp<std::int64_t>(at < 0 ? at + size.number : at, 0, size.number);
  };
  return Cut{axis, bound(numbers[0]), bound(numbers[1])};
}

}  // namespace

bool slices_to_split(Editor& editor, int node) {
  const auto first = cut_of(editor, node);
  if (!first || first->begin != 0 || editor.opset() < 13) return false;
  const std::string source = editor.node(node).input(0);
  const std::int64_t size =
      (*editor.type(source).sizes)[static_cast<std::size_t>(first->axis)].number;
  std::vector<int> parts{node};
  std::vector<std::int64_t> lengths{first->end};
  std::int64_t at = first->end;
  while (at < size) {
    bool found = false;
    for (const int other : editor.readers(source)) {
      const auto next = cut_of(editor, other);
      if (!next || next->axis != first->axis || next->begin != at || next->end <= at) continue;
      if (std::find(parts.begin(), parts.end(), other) != parts.end()) continue;
      parts.push_back(other);
      lengths.push_back(next->end - at);
      at = next->end;
      found = true;
      break;
    }
    if (!found) return false;
  }
  if (parts.size() < 2) return false;
  onnx::NodeProto made;
  made.set_op_type("Split");
  made.add_input(source);
  const auto count = static_cast<std::int64_t>(lengths.size());
  made.add_input(editor.add_constant(make_integers({count}, lengths), source + "_split"));
  for (const int part : parts) made.add_output(editor.node(part).output(0));
  set_integer(made, "axis", first->axis);
  for (const int part : parts) editor.remove(part);
  editor.add(made, node);
  return true;
}

}  // namespace symprof::workbench::rules
