// Values of the symbols in a graph's input sizes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace symprof::trace {

class SymbolTable {
 public:
  /// The value of `symbol`; empty while it has none.
  std::optional<std::int64_t> find(std::string_view symbol) const;

  /// Makes `expression` have the value `size`: binds its symbol, or solves for the one that has no
  /// value yet. Unsolvable expressions stay open. Throws Error, with `where`, if the symbol already
  /// has another value.
  void constrain(const std::string& expression, std::int64_t size, const ErrorPlace& where);

  /// The value of an expression, or of a name that looks like one ("batch-size").
  std::optional<std::int64_t> evaluate(const std::string& expression) const;

 private:
  void bind(const std::string& symbol, std::int64_t size, const ErrorPlace& where);

  std::map<std::string, std::int64_t, std::less<>> sizes_;
};

}  // namespace symprof::trace
