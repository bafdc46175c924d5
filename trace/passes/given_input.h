// The shape and the values of an input as a user gives them.
//
// Public header.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "trace/graph/graph.h"

namespace symprof::trace {

/// Values of an input, in row-major order: numbers as they are written, or a file of NumPy's.
struct InputValues {
  std::vector<std::string> numbers;
  std::string file;  ///< "lengths.npy"; then there are no `numbers`.
};

/// The shape of an input, "NAME=DTYPE[DIMS]"; a dimension may be a symbol's name. Values may
/// follow:
/// "{80,60,40}" or "{@lengths.npy}".
struct InputOverride {
  std::string name;
  std::optional<DType> dtype;
  std::vector<Dimension> dimensions;
  std::optional<InputValues> values;
  std::string text;  ///< As it was written; empty where nobody wrote it.
};

}  // namespace symprof::trace
