// Converts the bytes of small floating-point constants from one type to another.
#pragma once

#include <cstddef>
#include <vector>

#include "base/tensor_spec.h"

namespace symprof {

/// Rounds to nearest, ties to even, as PyTorch does. Empty for eight-bit types and for empty
/// `bytes` (unknown data).
std::vector<std::byte> convert_floats(const std::vector<std::byte>& bytes, DType from, DType to);

}  // namespace symprof
