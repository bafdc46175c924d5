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

}  // namespace symprof
