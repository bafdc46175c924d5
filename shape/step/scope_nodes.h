// How many nodes a named part of a C++ program has.
//
// Public header.
#pragma once

#include <cstdint>

namespace symprof {

enum class ScopeNodes : std::uint8_t {
  per_call,  ///< Every call has its node.
  one,       ///< All calls of the scope are one node: a function that the report shows as a leaf.
};

}  // namespace symprof
