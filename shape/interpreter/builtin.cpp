#include "shape/interpreter/builtin.h"

#include <c10/core/Scalar.h>

#include <algorithm>
#include <cmath>
#include <functional>

namespace symprof::shape {
namespace {

using Operands = std::vector<at::Scalar>;

bool all_integers(const Operands& operands) {
  return std::ranges::none_of(operands, [](const at::Scalar& s) { return s.isFloatingPoint(); });
}

// An integer result for integer operands, a float one otherwise.
template <class Function>
c10::IValue arithmetic(const Operands& x, Function function) {
  if (all_integers(x)) return function(x.at(0).toLong(), x.at(1).toLong());
  return function(x.at(0).toDouble(), x.at(1).toDouble());
}

template <class Compare>
c10::IValue comparison(const Operands& x, Compare compare) {
  if (all_integers(x)) return compare(x.at(0).toLong(), x.at(1).toLong());
  return compare(x.at(0).toDouble(), x.at(1).toDouble());
}

std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
  TORCH_CHECK(b != 0, "division of ", a, " by zero");
  const std::int64_t quotient = a / b;
  return quotient - ((a % b != 0) && ((a < 0) != (b < 0)) ? 1 : 0);
}

c10::IValue floordiv(const Operands& x) {
  if (all_integers(x)) return floor_divide(x.at(0).toLong(), x.at(1).toLong());
  return std::floor(x.at(0).toDouble() / x.at(1).toDouble());
}
c10::IValue mod(const Operands& x) {
  const std::int64_t a = x.at(0).toLong(), b = x.at(1).toLong();
  return a - floor_divide(a, b) * b;
}
c10::IValue power(const Operands& x) {
  if (!all_integers(x) || x.at(1).toLong() < 0)
    return std::pow(x.at(0).toDouble(), x.at(1).toDouble());
  std::int64_t result = 1;
  for (std::int64_t i = 0; i < x[1].toLong(); ++i) result *= x[0].toLong();
  return result;
}
c10::IValue negate(const Operands& x) {
  if (all_integers(x)) return -x.at(0).toLong();
  return -x.at(0).toDouble();
}
c10::IValue conditional(const Operands& x) {
  const at::Scalar& chosen = x.at(0).toBool() ? x.at(1) : x.at(2);
  if (chosen.isFloatingPoint()) return chosen.toDouble();
  return chosen.toLong();
}

std::int64_t rounded(double value) { return static_cast<std::int64_t>(value); }

struct Row {
  std::string_view name;
  Builtin function;
};

constexpr Row rows[] = {
    {"add", [](const Operands& x) { return arithmetic(x, std::plus<>()); }},
    {"sub", [](const Operands& x) { return arithmetic(x, std::minus<>()); }},
    {"mul", [](const Operands& x) { return arithmetic(x, std::multiplies<>()); }},
    {"truediv",
     [](const Operands& x) -> c10::IValue { return x.at(0).toDouble() / x.at(1).toDouble(); }},
    {"floordiv", floordiv},
    {"mod", mod},
    {"pow", power},
    {"neg", negate},
    {"abs", [](const Operands& x) -> c10::IValue { return std::abs(x.at(0).toLong()); }},
    {"min",
     [](const Operands& x) {
       return arithmetic(x, [](auto a, auto b) { return std::min(a, b); });
     }},
    {"max",
     [](const Operands& x) {
       return arithmetic(x, [](auto a, auto b) { return std::max(a, b); });
     }},
    {"sym_min",
     [](const Operands& x) {
       return arithmetic(x, [](auto a, auto b) { return std::min(a, b); });
     }},
    {"sym_max",
     [](const Operands& x) {
       return arithmetic(x, [](auto a, auto b) { return std::max(a, b); });
     }},
    {"eq", [](const Operands& x) { return comparison(x, std::equal_to<>()); }},
    {"ne", [](const Operands& x) { return comparison(x, std::not_equal_to<>()); }},
    {"lt", [](const Operands& x) { return comparison(x, std::less<>()); }},
    {"le", [](const Operands& x) { return comparison(x, std::less_equal<>()); }},
    {"gt", [](const Operands& x) { return comparison(x, std::greater<>()); }},
    {"ge", [](const Operands& x) { return comparison(x, std::greater_equal<>()); }},
    {"and_", [](const Operands& x) -> c10::IValue { return x.at(0).toBool() && x.at(1).toBool(); }},
    {"or_", [](const Operands& x) -> c10::IValue { return x.at(0).toBool() || x.at(1).toBool(); }},
    {"not_", [](const Operands& x) -> c10::IValue { return !x.at(0).toBool(); }},
    {"sym_not", [](const Operands& x) -> c10::IValue { return !x.at(0).toBool(); }},
    {"sym_ite", conditional},
    {"sym_int", [](const Operands& x) -> c10::IValue { return rounded(x.at(0).toDouble()); }},
    {"sym_float", [](const Operands& x) -> c10::IValue { return x.at(0).toDouble(); }},
    {"sym_sqrt", [](const Operands& x) -> c10::IValue { return std::sqrt(x.at(0).toDouble()); }},
    {"ceil",
     [](const Operands& x) -> c10::IValue { return rounded(std::ceil(x.at(0).toDouble())); }},
    {"floor",
     [](const Operands& x) -> c10::IValue { return rounded(std::floor(x.at(0).toDouble())); }},
    {"trunc",
     [](const Operands& x) -> c10::IValue { return rounded(std::trunc(x.at(0).toDouble())); }},
    // Python rounds halves to even, as the default rounding mode does.
    {"round",
     [](const Operands& x) -> c10::IValue { return rounded(std::nearbyint(x.at(0).toDouble())); }},
};

}  // namespace

Builtin find_builtin(std::string_view name) {
  const auto* row = std::ranges::find(rows, name, &Row::name);
  return row == std::end(rows) ? nullptr : row->function;
}

}  // namespace symprof::shape
