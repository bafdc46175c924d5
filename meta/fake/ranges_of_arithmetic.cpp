// Bounds of computed values: arithmetic, probabilities, truth values.
#include "meta/fake/range_rules.h"

#include <ATen/core/Tensor.h>

#include <cmath>

#include "meta/fake/range_arithmetic.h"

namespace symprof::meta {
namespace {
namespace of_arithmetic {

using namespace ranges;

template <ValueRange function(const ValueRange&)>
ResultRanges of_one(Call call) {
  return first(function(call.operand(0)));
}
template <ValueRange function(const ValueRange&, const ValueRange&)>
ResultRanges of_two(Call call) {
  if (!call.may_be_bounded(0) || !call.may_be_bounded(1)) return {};
  return first(function(call.operand(0), call.operand(1)));
}
/// One bounded operand is enough to bound the result.
template <ValueRange function(const ValueRange&, const ValueRange&)>
ResultRanges of_either_side(Call call) {
  return first(function(call.operand(0), call.operand(1)));
}
template <ValueRange function(const ValueRange&, const ValueRange&)>
ResultRanges of_two_turned(Call call) {
  if (!call.may_be_bounded(0) || !call.may_be_bounded(1)) return {};
  return first(function(call.operand(1), call.operand(0)));
}

ResultRanges fault(Call) { return first(between(0, 1, 0)); }

ResultRanges arithmetic_sum(Call call) {
  if (!call.may_be_bounded(0) || !call.may_be_bounded(1)) return {};
  return first(add(call.operand(0), mul(call.operand(1), only(call.number("alpha", 1)))));
}
ResultRanges difference(Call call) {
  if (!call.may_be_bounded(0) || !call.may_be_bounded(1)) return {};
  return first(add(call.operand(0), mul(call.operand(1), only(-call.number("alpha", 1)))));
}
ResultRanges turned_difference(Call call) {
  if (!call.may_be_bounded(0) || !call.may_be_bounded(1)) return {};
  return first(add(call.operand(1), mul(call.operand(0), only(-call.number("alpha", 1)))));
}

ValueRange quotient(const ValueRange& left, const ValueRange& right) {
  if (right.low <= 0 && right.high >= 0) return {};
  return mul(left, between(1 / right.high, 1 / right.low, 1 / right.likely));
}
ResultRanges division(Call call) {
  if (!call.may_be_bounded(0) || !call.may_be_bounded(1)) return {};
  const ValueRange range = quotient(call.operand(0), call.operand(1));
  if (!call.has("rounding_mode")) return first(range);
  const double high = range.high < 0 ? std::ceil(range.high) : std::floor(range.high);
  return first(between(std::floor(range.low), high, std::floor(range.likely)));
}
ResultRanges floor_division(Call call) {
  if (!call.may_be_bounded(0) || !call.may_be_bounded(1)) return {};
  return first(rising<std::floor>(quotient(call.operand(0), call.operand(1))));
}

/// A remainder has the divisor's sign.
ResultRanges remainder(Call call) {
  if (!call.may_be_bounded(0) || !call.may_be_bounded(1)) return {};
  const ValueRange self = call.operand(0), other = call.operand(1);
  if (other.low <= 0) return {};
  if (self.low >= 0 && self.high < other.low) return first(self);
  const bool is_whole = at::isIntegralType(call.result().scalar_type(), true);
  return first(between(0, is_whole ? other.high - 1 : other.high * below_one));
}

ResultRanges square(Call call) {
  const ValueRange size = absolute(call.operand(0));
  return first(mul(size, size));
}
ResultRanges power(Call call) {
  if (!call.may_be_bounded(0) || !call.may_be_bounded(1)) return {};
  const ValueRange self = call.operand(0), exponent = call.operand(1);
  if (exponent.is_number() && exponent.low == 2) return square(call);
  return self.low >= 0 ? first(from_zero) : ResultRanges{};
}

ResultRanges clamp(Call call) {
  ValueRange range = call.operand(0);
  if (call.is_given(1)) range = maximum(range, call.operand(1));
  if (call.is_given(2)) range = minimum(range, call.operand(2));
  return first(range);
}
ResultRanges exponential(Call call) {
  const ValueRange self = call.operand(0);
  return first(between(std::exp(self.low), std::exp(self.high)));
}
ResultRanges relu(Call call) { return first(maximum(call.operand(0), only(0))); }
ResultRanges root(Call call) {
  const ValueRange self = call.operand(0);
  return first(self.low >= 0 ? rising<std::sqrt>(self) : from_zero);
}
ResultRanges clamp_to(Call call) {
  return first(minimum(maximum(call.operand(0), only(call.number("min_val", -1))),
                       only(call.number("max_val", 1))));
}

ResultRanges logical(Call call, ValueRange rule(const ValueRange&, const ValueRange&)) {
  return first(rule(as_truth(call.operand(0)), as_truth(call.operand(1))));
}
ResultRanges logical_and(Call call) { return logical(call, minimum); }
ResultRanges logical_or(Call call) { return logical(call, maximum); }
bool makes_truth(Call call) { return call.result().scalar_type() == at::kBool; }
ResultRanges bitwise_and(Call call) {
  return makes_truth(call) ? logical_and(call) : ResultRanges{};
}
ResultRanges bitwise_or(Call call) { return makes_truth(call) ? logical_or(call) : ResultRanges{}; }
ResultRanges logical_not(Call call) { return first(opposite(as_truth(call.operand(0)))); }
ResultRanges bitwise_not(Call call) {
  return makes_truth(call) ? logical_not(call) : ResultRanges{};
}

// Assumes that numbers are finite: torch.isfinite compares a tensor with itself and with infinity
// (native/TensorCompare.cpp).
bool is_to_infinity(Call call) {
  if (call.is_tensor(1) && call.tensor(1).numel() != 1) return false;
  const ValueRange other = call.operand(1);
  return other.is_number() && std::isinf(other.low);
}
ResultRanges equality(Call call) {
  if (call.is_same_tensor_twice()) return first(one);
  if (is_to_infinity(call)) return first(zero);
  return of_two<ranges::equal>(call);
}
ResultRanges inequality(Call call) {
  if (call.is_same_tensor_twice()) return first(zero);
  if (is_to_infinity(call)) return first(one);
  return of_two<unequal>(call);
}

// clang-format off
constexpr RangeRow rows[] = {
    // Arithmetic.
    {"add", arithmetic_sum}, {"sub", difference}, {"rsub", turned_difference},
    {"mul", of_two<mul>}, {"div", division}, {"floor_divide", floor_division},
    {"remainder", remainder}, {"neg", of_one<negated>}, {"abs", of_one<absolute>},
    {"pow", power}, {"square", square}, {"minimum", of_either_side<minimum>},
    {"maximum", of_either_side<maximum>}, {"clamp", clamp},
    {"clamp_min", of_either_side<maximum>}, {"clamp_max", of_either_side<minimum>},
    {"hardtanh", clamp_to}, {"relu", relu}, {"floor", of_one<rising<std::floor>>},
    {"ceil", of_one<rising<std::ceil>>}, {"round", of_one<rising<std::nearbyint>>},
    {"trunc", of_one<rising<std::trunc>>}, {"exp", exponential}, {"sqrt", root},
    {"sigmoid", always<of_sigmoid>}, {"hardsigmoid", always<of_sigmoid>},
    {"_softmax", always<of_sigmoid>}, {"_safe_softmax", always<of_sigmoid>},
    {"_log_softmax", always<to_zero>}, {"tanh", always<of_tanh>}, {"sin", always<of_tanh>},
    {"cos", always<of_tanh>}, {"erf", always<of_tanh>}, {"sign", always<of_tanh>},
    {"softplus", always<from_zero>}, {"linalg_vector_norm", always<from_zero>},
    {"std", always<from_zero>}, {"var", always<from_zero>}, {"any", of_one<ranges::as_truth>},
    {"all", of_one<ranges::as_truth>},
    // Truth values.
    {"lt", of_two<less>}, {"gt", of_two_turned<less>}, {"ge", of_two<at_least>},
    {"le", of_two_turned<at_least>}, {"eq", equality}, {"ne", inequality},
    {"isnan", fault}, {"isinf", fault}, {"logical_and", logical_and},
    {"logical_or", logical_or}, {"logical_not", logical_not}, {"bitwise_and", bitwise_and},
    {"bitwise_or", bitwise_or}, {"bitwise_not", bitwise_not},
};
// clang-format on

}  // namespace of_arithmetic
}  // namespace

std::span<const RangeRow> ranges_of_arithmetic() { return of_arithmetic::rows; }

}  // namespace symprof::meta
