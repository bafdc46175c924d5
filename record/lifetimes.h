// Lifetimes of a graph's values.
//
// Public header.
#pragma once

#include <cstdint>

namespace symprof {

enum class Lifetimes : std::uint8_t {
  frames,    ///< As in Python: arguments and named values live until their function returns.
  last_use,  ///< Until the last node that uses it has run, as in the code that torch.fx generates.
};

/// The reason why a file does not show when Python releases a value.
enum class LifetimeUncertainty : std::uint8_t {
  none,          ///< The file shows it.
  function,      ///< A function without source lines in the file created or received it.
  container,     ///< A call returned more than the results in the file: the others may hold it.
  no_lines,      ///< The file has no Python lines for it.
  unregistered,  ///< A constructor stored it in an attribute, which no file has: it is never
                 ///< released.
  unread,        ///< Constructors were not read, and a step this small may have more such tensors.
};

}  // namespace symprof
