// How a program says the values of a tensor on its simulated device, for the advice of errors and
// warnings that lack them (docs/python.md).
//
// Public header.
#pragma once

#include <string>

namespace symprof {

inline std::string given_values() { return "symprof.given(tensor, value)"; }

}  // namespace symprof
