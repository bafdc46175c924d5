// Advice text of errors and warnings about unknown values: how a program sets the values of a
// tensor on its simulated device (docs/guide/python.md).
#pragma once

#include <string>

namespace symprof {

inline std::string given_values() { return "symprof.given(tensor, value)"; }

}  // namespace symprof
