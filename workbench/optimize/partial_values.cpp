#include "workbench/optimize/partial_values.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "trace/onnx/tensors.h"
#include "workbench/optimize/attributes.h"

namespace symprof::workbench {
namespace {

constexpr std::int64_t most_elements = 4096;
constexpr int most_nodes = 16;  ///< From an undefined element to the Where.
constexpr std::array elementwise = {"Add", "Sub", "Mul", "Min", "Max", "Neg", "Abs"};

onnx::NodeProto node_of(const char* op) {
  onnx::NodeProto node;
  node.set_op_type(op);
  return node;
}

ConstantPointer first_of(const onnx::NodeProto& node, const std::vector<ConstantPointer>& inputs) {
  const auto results = evaluate(node, inputs, most_elements);
  return results && results->size() == 1 ? results->front() : nullptr;
}

/// Numbers out of the integer's range become 0, and undefined.
std::optional<PartialValue> cast_partly(const onnx::NodeProto& node, const ConstantPointer& from) {
  const auto dtype = trace::onnx_dtype(static_cast<std::int32_t>(integer(node, "to", 0)));
  if (!dtype || (*dtype != DType::int64 && *dtype != DType::int32) ||
      from->spec.numel() > most_elements)
    return std::nullopt;
  const double limit = *dtype == DType::int64 ? 0x1p63 : 0x1p31;
  std::vector<std::int64_t> values, undefined;
  for (const double number : reals_of(*from)) {
    const bool fits = std::trunc(number) >= -limit && std::trunc(number) < limit;
    values.push_back(fits ? static_cast<std::int64_t>(number) : 0);
    undefined.push_back(fits ? 0 : 1);
  }
  return PartialValue{.value = make_integers(from->spec.sizes, values, *dtype),
                      .undefined = make_integers(from->spec.sizes, undefined, DType::boolean)};
}

class Partly {
 public:
  explicit Partly(const Editor& editor) : editor_(editor) {}

  std::optional<PartialValue> of(const std::string& name) {
    if (const ConstantPointer constant = editor_.constant(name))
      return PartialValue{.value = constant, .undefined = nullptr};
    const int made = editor_.maker(name);
    if (made < 0 || ++nodes_ > most_nodes) return std::nullopt;
    const onnx::NodeProto& node = editor_.node(made);
    if (editor_.is(made, "Cast")) return of_cast(node);
    const bool is_known =
        std::ranges::any_of(elementwise, [&](const char* op) { return editor_.is(made, op); });
    return is_known ? of_elements(node) : std::nullopt;
  }

 private:
  std::optional<PartialValue> of_cast(const onnx::NodeProto& node) {
    const ConstantPointer from = editor_.constant(node.input(0));
    if (!from || !is_floating_point(from->spec.dtype)) return std::nullopt;
    return cast_partly(node, from);
  }

  /// An element is undefined if one of those that it is computed from is.
  std::optional<PartialValue> of_elements(const onnx::NodeProto& node) {
    std::vector<ConstantPointer> values;
    ConstantPointer undefined;
    for (const std::string& input : node.input()) {
      const auto known = of(input);
      if (!known || !known->value) return std::nullopt;
      values.push_back(known->value);
      if (!known->undefined) continue;
      undefined =
          undefined ? first_of(node_of("Or"), {undefined, known->undefined}) : known->undefined;
      if (!undefined) return std::nullopt;
    }
    const ConstantPointer value = first_of(node, values);
    if (!value) return std::nullopt;
    return PartialValue{.value = value, .undefined = undefined};
  }

  const Editor& editor_;
  int nodes_ = 0;
};

}  // namespace

std::optional<PartialValue> partial_value(const Editor& editor, const std::string& name) {
  return Partly(editor).of(name);
}

ConstantPointer chosen(const onnx::NodeProto& where, const ConstantPointer& condition,
                       const PartialValue& x, const PartialValue& y) {
  const ConstantPointer nowhere = make_integers({}, {0}, DType::boolean);
  const auto undefined = [&](const PartialValue& side) {
    return side.undefined ? side.undefined : nowhere;
  };
  const ConstantPointer doubtful = first_of(where, {condition, undefined(x), undefined(y)});
  if (!doubtful) return nullptr;
  for (const std::int64_t is_undefined : integers_of(*doubtful))
    if (is_undefined != 0) return nullptr;
  return first_of(where, {condition, x.value, y.value});
}

}  // namespace symprof::workbench
