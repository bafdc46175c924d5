// The values of an input as a setting, for the advice of errors that lack them.
//
// Public header.
#pragma once

#include <string>

#include "base/setting.h"

namespace symprof {

/// An example of values that are given: inputs lengths=int64[3]{80,60,40}.
inline std::string values_setting() { return setting("inputs", "lengths=int64[3]{80,60,40}"); }

}  // namespace symprof
