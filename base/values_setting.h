// The setting for an input's values, for the advice of errors about unknown values.
#pragma once

#include <string>

#include "base/setting.h"

namespace symprof {

/// An example of given values: inputs lengths=int64[3]{80,60,40}.
inline std::string values_setting() { return setting("inputs", "lengths=int64[3]{80,60,40}"); }

}  // namespace symprof
