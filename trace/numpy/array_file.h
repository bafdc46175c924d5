// Arrays that numpy.save writes (.npy), for the values of inputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/tensor_spec.h"

namespace symprof::trace::numpy {

struct Array {
  TensorSpec spec;  ///< Row-major.
  std::vector<std::byte> data;
};

/// Reads a file of version 1.0 or 2.0 of the format (numpy/lib/format.py) with little-endian
/// integers, floats or truth values; what lies column by column in the file comes row by row.
/// Throws Error for any other file, for one whose header and length disagree, and for one of more
/// than `most_elements`.
Array read_array(const std::string& path, std::int64_t most_elements);
/// The same of bytes in memory; `path` is for messages.
Array parse_array(const std::string& bytes, const std::string& path, std::int64_t most_elements);

/// numpy.dtype.str: "<f4", "|b1"; empty for a dtype that read_array does not read.
std::string descr_of(DType dtype);
/// The bytes of a file of `data` with this dtype.str, row-major, as numpy.save writes it.
std::string file_bytes(std::string_view descr, const std::vector<std::int64_t>& sizes,
                       std::string_view data);
/// The bytes of such a file of `array`. Empty for a dtype that has no descr_of().
std::string array_bytes(const Array& array);

}  // namespace symprof::trace::numpy
