// The calls that a line of Python writes down.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "trace/python/source/tokens.h"

namespace symprof::trace {

/// `receiver.function(arguments)`. Spans and views into what calls_in() was given.
struct WrittenCall {
  std::string_view function;  ///< Its last name: "to" of `x.to(…)`; empty for `layers[i](…)`.
  bool is_method = false;     ///< A dot stands before the name.
  std::string_view receiver;  ///< The name before that dot, if it is plain: "x", not `self.x`.
  std::vector<Tokens> arguments;  ///< As far as the line has them; none for `f()`.
  bool is_whole = true;           ///< False where the line ends before the call does.
  const Token* close = nullptr;   ///< Its closing bracket; null where the line ends before.

  /// The value of the argument `name=…`; empty if it is not given.
  std::optional<Tokens> keyword(std::string_view name) const;
};

/// In the order in which Python runs them: calls in the arguments of another one come before it.
std::vector<WrittenCall> calls_in(Tokens tokens);

}  // namespace symprof::trace
