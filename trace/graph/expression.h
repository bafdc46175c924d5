// Sizes as arithmetic on symbols: "2*s77", "batch + 1", "Max(s0, 4)//2".
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace symprof::trace {

/// The value of a symbol, when it has one.
using SymbolLookup = std::function<std::optional<std::int64_t>(std::string_view)>;

/// Evaluates + - * / // % with Python's meaning, brackets, and Min, Max, Mod, Pow, FloorDiv and
/// CeilDiv, which sympy prints. Empty when a symbol has no value, for a division by zero or one
/// that leaves a rest with /, on overflow, and for text that is no expression.
std::optional<std::int64_t> evaluate(std::string_view expression, const SymbolLookup& lookup);

/// The symbols of an expression, each once, in order. Functions are not among them.
std::vector<std::string> symbols(std::string_view expression);

/// True if the text is one name: a letter or underscore, then letters, digits, "_" and ".".
bool is_symbol(std::string_view text);

/// `expression` with one symbol renamed.
std::string rename_symbol(std::string_view expression, std::string_view from, std::string_view to);

/// The value of `symbol` at which an expression that is linear in it has the value `wanted`; the
/// other symbols are looked up.
std::optional<std::int64_t> solve(std::string_view expression, std::string_view symbol,
                                  std::int64_t wanted, const SymbolLookup& lookup);

}  // namespace symprof::trace
