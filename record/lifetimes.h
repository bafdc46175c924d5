// How long the values of a graph live.
//
// Public header.
#pragma once

#include <cstdint>

namespace symprof {

enum class Lifetimes : std::uint8_t {
  frames,    ///< As in Python: arguments and named values live until their function returns.
  last_use,  ///< Until the last node that uses it has run, as in the code that torch.fx generates.
};

/// Why a file cannot tell when Python lets go of a value.
enum class LifetimeDoubt : std::uint8_t {
  none,          ///< It tells.
  function,      ///< A function made or was given it whose lines are not in the file.
  container,     ///< A call gave more than the file has results: the rest may hold it.
  no_lines,      ///< The file has no lines of Python for it.
  unregistered,  ///< A constructor made it for an attribute, which no file has: it lives always.
  unread,        ///< Constructors were not read, and so small a step may have more of such tensors.
};

}  // namespace symprof
