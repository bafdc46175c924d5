// before                                        after
//   y = Relu(Relu(x)), Clip(Relu(x)), Clip(Clip(x, a, b), c, d)
//                                               y = Clip(x, lower, upper), or Relu
//   y = Min(Max(x, a), b), Max(Min(x, b), a)    y = Clip(x, a, b), of numbers with a <= b
//   y = Not(Not(x))                             y = x
//   y = Where(Not(c), a, b)                     y = Where(c, b, a)
//   y = Mul(Div(x, 2), 6), Add(Add(x, 1), 2)    y = Mul(x, 3), Add(x, 3), of floating-point numbers
//   y = Slice(Slice(x, of axis 0), of axis 1)   y = Slice(x, of axes 0 and 1)
//   y = Concat(a, Concat(b, c))                 y = Concat(a, b, c)
//   y = Concat(a, b), where a, b = Split(x)     y = x
//   y = Unsqueeze(ReduceSum(x, keepdims=0))     y = ReduceSum(x, keepdims=1)
//   y = SequenceAt(SequenceConstruct(a, b), 1)  y = b
#include <algorithm>
#include <limits>

#include "workbench/optimize/patterns.h"
#include "workbench/optimize/rule.h"

namespace symprof::workbench::rules {
namespace {

struct Bounds {
  std::string of;
  double lower = -std::numeric_limits<double>::infinity();
  double upper = std::numeric_limits<double>::infinity();
};

/// The bounds of a Relu, or of a Clip between numbers; Min and Max with a number bound one side.
std::optional<Bounds> bounds_of(const Editor& editor, int node) {
  if (editor.is(node, "Relu")) return Bounds{editor.node(node).input(0), 0};
  if (editor.is(node, "Clip") && editor.opset() >= 11) {
    Bounds bounds{editor.node(node).input(0)};
    double* const ends[] = {&bounds.lower, &bounds.upper};
    for (int i = 1; i < editor.node(node).input_size(); ++i) {
      if (editor.node(node).input(i).empty()) continue;
      const auto number = editor.number(editor.node(node).input(i));
      if (!number) return std::nullopt;
      *ends[i - 1] = *number;
    }
    return bounds;
  }
  const bool is_least = editor.is(node, "Min");
  if (!is_least && !editor.is(node, "Max")) return std::nullopt;
  const auto operand = with_number(editor, node);
  if (!operand || !editor.type(operand->value).same(editor.type(editor.node(node).output(0))))
    return std::nullopt;
  Bounds bounds{operand->value};
  (is_least ? bounds.upper : bounds.lower) = operand->number;
  return bounds;
}

/// A number in the dtype of `like`.
std::string number_like(Editor& editor, double number, const std::string& like,
                        const std::string& name) {
  const auto dtype = editor.type(like).dtype();
  const ConstantPointer made = !dtype ? nullptr
                               : is_floating_point(*dtype)
                                   ? make_constant(*dtype, {}, {number})
                                   : make_integers({}, {static_cast<std::int64_t>(number)}, *dtype);
  return made ? editor.add_constant(made, name) : std::string();
}

}  // namespace

bool merge_clips(Editor& editor, int node) {
  const auto outer = bounds_of(editor, node);
  if (!outer || editor.opset() < 11 || !editor.is_private(outer->of)) return false;
  const auto inner = bounds_of(editor, editor.maker(outer->of));
  // Clip with a lower bound above the upper one returns the upper one.
  if (!inner || inner->lower > inner->upper || outer->lower > outer->upper) return false;
  const double lower = std::clamp(inner->lower, outer->lower, outer->upper),
               upper = std::clamp(inner->upper, outer->lower, outer->upper);
  const std::string y = editor.node(node).output(0);
  std::vector<std::string> inputs{inner->of};
  const bool is_relu = lower == 0 && std::isinf(upper);
  if (!is_relu) {
    inputs.push_back(std::isinf(lower) ? "" : number_like(editor, lower, inner->of, y + "_lower"));
    inputs.push_back(std::isinf(upper) ? "" : number_like(editor, upper, inner->of, y + "_upper"));
    if (inputs[1].empty() != std::isinf(lower) || inputs[2].empty() != std::isinf(upper))
      return false;
  }
  become(editor, node, node_of(is_relu ? "Relu" : "Clip"), inputs);
  return true;
}

bool drop_double_not(Editor& editor, int node) {
  if (!editor.is(node, "Not")) return false;
  const int inner = editor.maker(editor.node(node).input(0));
  if (!editor.is(inner, "Not")) return false;
  const std::string source = editor.node(inner).input(0);
  return pass_and_drop(editor, node, source);
}

bool where_of_not(Editor& editor, int node) {
  if (!editor.is(node, "Where")) return false;
  const int inner = private_maker(editor, editor.node(node).input(0), "Not");
  if (inner < 0) return false;
  const onnx::NodeProto old = editor.node(node);
  become(editor, node, node_of("Where"), {editor.node(inner).input(0), old.input(2), old.input(1)});
  return true;
}

namespace {

/// A node as x * factor + shift; one of the two is neutral.
struct Line {
  std::string of;
  bool scales = false;
  double number = 0;
};

std::optional<Line> line_of(const Editor& editor, int node) {
  const bool divides = editor.is(node, "Div"), subtracts = editor.is(node, "Sub");
  const bool scales = divides || editor.is(node, "Mul");
  if (!scales && !subtracts && !editor.is(node, "Add")) return std::nullopt;
  const auto operand = with_number(editor, node);
  if (!operand || ((divides || subtracts) && operand->side != 0)) return std::nullopt;
  const std::string y = editor.node(node).output(0);
  if (!is_float(editor, y) || !editor.type(operand->value).same(editor.type(y)))
    return std::nullopt;
  const double number = divides     ? 1 / operand->number
                        : subtracts ? -operand->number
                                    : operand->number;
  if (!std::isfinite(number)) return std::nullopt;
  return Line{operand->value, scales, number};
}

}  // namespace

bool merge_scalars(Editor& editor, int node) {
  const auto outer = line_of(editor, node);
  if (!outer || !editor.is_private(outer->of)) return false;
  const auto inner = line_of(editor, editor.maker(outer->of));
  if (!inner || inner->scales != outer->scales) return false;
  const double number =
      outer->scales ? outer->number * inner->number : outer->number + inner->number;
  const auto dtype = editor.type(outer->of).dtype();
  // An intermediate overflow must not become finite.
  if (!dtype || element_bits(*dtype) < 32 || std::fabs(number) > 1e30 ||
      (outer->scales && std::fabs(number) < 1e-30))
    return false;
  const std::string y = editor.node(node).output(0);
  const std::string constant = number_like(editor, number, outer->of, y + "_number");
  become(editor, node, node_of(outer->scales ? "Mul" : "Add"), {inner->of, constant});
  return true;
}

namespace {

struct SliceParts {
  std::vector<std::int64_t> starts, ends, axes, steps;
};

std::optional<SliceParts> slice_parts(const Editor& editor, int node) {
  if (!editor.is(node, "Slice") || editor.node(node).input_size() < 4) return std::nullopt;
  SliceParts parts;
  std::vector<std::int64_t>* const lists[] = {&parts.starts, &parts.ends, &parts.axes,
                                              &parts.steps};
  const onnx::NodeProto& proto = editor.node(node);
  for (int i = 1; i < proto.input_size(); ++i) {
    const ConstantPointer value = editor.constant(proto.input(i));
    if (!value) return std::nullopt;
    *lists[i - 1] = integers_of(*value);
  }
  if (parts.steps.empty()) parts.steps.assign(parts.axes.size(), 1);
  const auto rank = static_cast<std::int64_t>(rank_of(editor, proto.input(0)));
  for (std::int64_t& axis : parts.axes) axis += axis < 0 ? rank : 0;
  const std::size_t count = parts.axes.size();
  if (rank == 0 || parts.starts.size() != count || parts.ends.size() != count ||
      parts.steps.size() != count)
    return std::nullopt;
  return parts;
}

}  // namespace

bool merge_slices(Editor& editor, int node) {
  const auto outer = slice_parts(editor, node);
  if (!outer) return false;
  const int before = private_maker(editor, editor.node(node).input(0), "Slice");
  auto both = before < 0 ? std::nullopt : slice_parts(editor, before);
  if (!both) return false;
  for (const std::int64_t axis : outer->axes)
    if (std::find(both->axes.begin(), both->axes.end(), axis) != both->axes.end()) return false;
  const auto append = [](std::vector<std::int64_t>& to, const std::vector<std::int64_t>& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  append(both->starts, outer->starts);
  append(both->ends, outer->ends);
  append(both->axes, outer->axes);
  append(both->steps, outer->steps);
  const std::string y = editor.node(node).output(0);
  const auto count = static_cast<std::int64_t>(both->axes.size());
  std::vector<std::string> inputs{editor.node(before).input(0)};
  for (const auto& [list, name] : {std::pair{&both->starts, "_starts"},
                                   {&both->ends, "_ends"},
                                   {&both->axes, "_axes"},
                                   {&both->steps, "_steps"}})
    inputs.push_back(editor.add_constant(make_integers({count}, *list), y + name));
  become(editor, node, node_of("Slice"), inputs);
  return true;
}

bool merge_concats(Editor& editor, int node) {
  if (!editor.is(node, "Concat")) return false;
  const onnx::NodeProto old = editor.node(node);
  const auto rank = static_cast<std::int64_t>(rank_of(editor, old.output(0)));
  const auto axis_of = [&](const onnx::NodeProto& concat) {
    const std::int64_t axis = integer(concat, "axis", 0);
    return axis < 0 ? axis + rank : axis;
  };
  for (int i = 0; i < old.input_size() && rank > 0; ++i) {
    const int inner = private_maker(editor, old.input(i), "Concat");
    if (inner < 0 || axis_of(editor.node(inner)) != axis_of(old)) continue;
    std::vector<std::string> inputs(old.input().begin(), old.input().begin() + i);
    const onnx::NodeProto& first = editor.node(inner);
    inputs.insert(inputs.end(), first.input().begin(), first.input().end());
    inputs.insert(inputs.end(), old.input().begin() + i + 1, old.input().end());
    onnx::NodeProto made = node_of("Concat");
    set_integer(made, "axis", axis_of(old));
    become(editor, node, std::move(made), inputs);
    return true;
  }
  return false;
}

bool concat_of_split(Editor& editor, int node) {
  if (!editor.is(node, "Concat") || editor.node(node).input_size() < 2) return false;
  const onnx::NodeProto old = editor.node(node);
  const int split = editor.maker(old.input(0));
  if (!editor.is(split, "Split")) return false;
  const onnx::NodeProto& parts = editor.node(split);
  const auto rank = static_cast<std::int64_t>(rank_of(editor, old.output(0)));
  const auto axis_of = [&](const onnx::NodeProto& of) {
    const std::int64_t axis = integer(of, "axis", 0);
    return axis < 0 ? axis + rank : axis;
  };
  if (rank == 0 || axis_of(parts) != axis_of(old) ||
      !std::equal(old.input().begin(), old.input().end(), parts.output().begin(),
                  parts.output().end()))
    return false;
  const std::string source = parts.input(0);
  return pass_and_drop(editor, node, source);
}

bool unsqueeze_in_reduce(Editor& editor, int node) {
  if (!editor.is(node, "Unsqueeze")) return false;
  const std::string middle = editor.node(node).input(0);
  const int reduce = editor.maker(middle);
  if (reduce < 0 || !editor.is_private(middle) ||
      !editor.node(reduce).op_type().starts_with("Reduce") ||
      !plain_domain(editor.node(reduce).domain()).empty() ||
      integer(editor.node(reduce), "keepdims", 1) != 0)
    return false;
  auto reduced = editor.integers_at(reduce, 1, "axes"), added = editor.integers_at(node, 1, "axes");
  const auto rank = static_cast<std::int64_t>(rank_of(editor, editor.node(reduce).input(0)));
  if (!reduced || !added || reduced->empty() || rank == 0) return false;
  for (auto* axes : {&*reduced, &*added}) {
    for (std::int64_t& axis : *axes) axis += axis < 0 ? rank : 0;
    std::sort(axes->begin(), axes->end());
  }
  if (*reduced != *added) return false;
  onnx::NodeProto made = editor.node(reduce);
  set_integer(made, "keepdims", 1);
  made.set_output(0, editor.node(node).output(0));
  editor.remove(node);
  editor.remove(reduce);
  editor.add(made, reduce);
  return true;
}

bool element_of_sequence(Editor& editor, int node) {
  if (!editor.is(node, "SequenceAt")) return false;
  const int made = editor.maker(editor.node(node).input(0));
  const auto index = editor.number(editor.node(node).input(1));
  if (!editor.is(made, "SequenceConstruct") || !index) return false;
  const int count = editor.node(made).input_size();
  const int at = static_cast<int>(*index) + (*index < 0 ? count : 0);
  if (at < 0 || at >= count) return false;
  const std::string source = editor.node(made).input(at);
  return pass_and_drop(editor, node, source);
}

}  // namespace symprof::workbench::rules
