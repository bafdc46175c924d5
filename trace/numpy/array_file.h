// Arrays that numpy.save writes (.npy), for the values of small inputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/tensor_spec.h"

namespace symprof::trace::numpy {

struct Array {
  TensorSpec spec;  ///< Row-major.
  std::vector<std::byte> data;
};

/// Reads a file of version 1.0 or 2.0 of the format (numpy/lib/format.py) with little-endian
/// integers, floats or truth values, row by row. Throws Error for any other file, for one whose
/// header and length disagree, and for one of more than `most_elements`.
Array read_array(const std::string& path, std::int64_t most_elements);

}  // namespace symprof::trace::numpy
