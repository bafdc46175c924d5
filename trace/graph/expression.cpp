#include "trace/graph/expression.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <limits>

namespace symprof::trace {
namespace {

using Number = std::optional<std::int64_t>;

constexpr int deepest = 100;

bool starts_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }

bool continues_name(char c) {
  return starts_name(c) || std::isdigit(static_cast<unsigned char>(c)) || c == '.';
}

Number add(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  return __builtin_add_overflow(a, b, &result) ? Number{} : result;
}

Number subtract(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  return __builtin_sub_overflow(a, b, &result) ? Number{} : result;
}

Number multiply(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  return __builtin_mul_overflow(a, b, &result) ? Number{} : result;
}

bool divides(std::int64_t a, std::int64_t b) {
  return b != 0 && !(a == std::numeric_limits<std::int64_t>::min() && b == -1);
}

/// Rounds towards minus infinity, as Python does.
Number floor_divide(std::int64_t a, std::int64_t b) {
  if (!divides(a, b)) return {};
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

Number ceil_divide(std::int64_t a, std::int64_t b) {
  if (!divides(a, b)) return {};
  return a / b + (a % b != 0 && (a < 0) == (b < 0) ? 1 : 0);
}

Number exact_divide(std::int64_t a, std::int64_t b) {
  return divides(a, b) && a % b == 0 ? Number{a / b} : Number{};
}

Number modulo(std::int64_t a, std::int64_t b) {
  const Number quotient = floor_divide(a, b);
  return quotient ? Number{a - *quotient * b} : Number{};
}

Number power(std::int64_t base, std::int64_t exponent) {
  if (exponent < 0 || exponent > 64) return {};
  Number result = 1;
  for (std::int64_t i = 0; result && i < exponent; ++i) result = multiply(*result, base);
  return result;
}

Number smaller(std::int64_t a, std::int64_t b) { return std::min(a, b); }
Number larger(std::int64_t a, std::int64_t b) { return std::max(a, b); }

struct Function {
  std::string_view name;
  Number (*apply)(std::int64_t, std::int64_t);
};

/// Named as in sympy and torch/utils/_sympy/functions.py.
constexpr std::array functions = {
    Function{"Min", smaller},
    Function{"Max", larger},
    Function{"Mod", modulo},
    Function{"PythonMod", modulo},
    Function{"FloorDiv", floor_divide},
    Function{"CleanDiv", exact_divide},
    Function{"CeilDiv", ceil_divide},
    Function{"Pow", power},
    Function{"min", smaller},
    Function{"max", larger},
};

class Evaluator {
 public:
  Evaluator(std::string_view text, const SymbolLookup& lookup) : rest_(text), lookup_(lookup) {}

  Number run() {
    const Number result = sum(0);
    skip_spaces();
    return rest_.empty() ? result : Number{};
  }

 private:
  bool take(std::string_view token) {
    skip_spaces();
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }

  void skip_spaces() {
    while (!rest_.empty() && rest_.front() == ' ') rest_.remove_prefix(1);
  }

  static Number apply(Number (*operation)(std::int64_t, std::int64_t), Number a, Number b) {
    return a && b ? operation(*a, *b) : Number{};
  }

  Number sum(int depth) {
    Number left = product(depth);
    while (left) {
      if (take("+")) {
        left = apply(add, left, product(depth));
      } else if (take("-")) {
        left = apply(subtract, left, product(depth));
      } else {
        break;
      }
    }
    return left;
  }

  Number product(int depth) {
    Number left = factor(depth);
    while (left) {
      if (take("//")) {
        left = apply(floor_divide, left, factor(depth));
      } else if (take("**")) {
        left = apply(power, left, factor(depth));
      } else if (take("*")) {
        left = apply(multiply, left, factor(depth));
      } else if (take("/")) {
        left = apply(exact_divide, left, factor(depth));
      } else if (take("%")) {
        left = apply(modulo, left, factor(depth));
      } else {
        break;
      }
    }
    return left;
  }

  Number factor(int depth) {
    if (depth > deepest) return {};
    if (take("-")) return apply(subtract, 0, factor(depth + 1));
    if (take("(")) {
      const Number inside = sum(depth + 1);
      return take(")") ? inside : Number{};
    }
    skip_spaces();
    if (rest_.empty()) return {};
    if (starts_name(rest_.front())) return named(depth);
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc{}) return {};
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return value;
  }

  Number named(int depth) {
    const auto end = std::find_if_not(rest_.begin(), rest_.end(), continues_name);
    const std::string_view name(rest_.begin(), end);
    rest_.remove_prefix(name.size());
    if (!take("(")) return lookup_(name);
    const auto* function = std::find_if(functions.begin(), functions.end(),
                                        [&](const Function& f) { return f.name == name; });
    Number result = sum(depth + 1);
    while (take(",")) {
      const Number next = sum(depth + 1);
      result = function == functions.end() ? Number{} : apply(function->apply, result, next);
    }
    return take(")") && function != functions.end() ? result : Number{};
  }

  std::string_view rest_;
  const SymbolLookup& lookup_;
};

/// Calls visit(name, is_function) for each name, and rest(text) for the text in between.
template <class Name, class Rest>
void scan(std::string_view text, Name&& visit, Rest&& rest) {
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i + 1;
    if (starts_name(text[i])) {
      while (end < text.size() && continues_name(text[end])) ++end;
      visit(text.substr(i, end - i), end < text.size() && text[end] == '(');
    } else {
      rest(text.substr(i, 1));
    }
    i = end;
  }
}

}  // namespace

std::optional<std::int64_t> evaluate(std::string_view expression, const SymbolLookup& lookup) {
  return Evaluator(expression, lookup).run();
}

std::vector<std::string> symbols(std::string_view expression) {
  std::vector<std::string> result;
  scan(
      expression,
      [&](std::string_view name, bool is_function) {
        if (!is_function && std::find(result.begin(), result.end(), name) == result.end())
          result.emplace_back(name);
      },
      [](std::string_view) {});
  return result;
}

bool is_symbol(std::string_view text) {
  return !text.empty() && starts_name(text.front()) &&
         std::all_of(text.begin(), text.end(), continues_name);
}

std::string rename_symbol(std::string_view expression, std::string_view from, std::string_view to) {
  std::string result;
  scan(
      expression,
      [&](std::string_view name, bool is_function) {
        result += !is_function && name == from ? to : name;
      },
      [&](std::string_view between) { result += between; });
  return result;
}

std::optional<std::int64_t> solve(std::string_view expression, std::string_view symbol,
                                  std::int64_t wanted, const SymbolLookup& lookup) {
  const auto at = [&](std::int64_t value) {
    return evaluate(expression, [&](std::string_view name) -> Number {
      return name == symbol ? Number{value} : lookup(name);
    });
  };
  // Sampled away from 0 and 1, where Max and // bend.
  const Number low = at(1000), high = at(2000);
  if (!low || !high || *low == *high) return {};
  const Number rise = subtract(*high, *low), missing = subtract(wanted, *low);
  const Number slope = rise ? exact_divide(*rise, 1000) : Number{};
  const Number steps = slope && missing ? exact_divide(*missing, *slope) : Number{};
  const Number value = steps ? add(1000, *steps) : Number{};
  return value && at(*value) == Number{wanted} ? value : Number{};
}

}  // namespace symprof::trace
