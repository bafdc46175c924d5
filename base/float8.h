// Numbers of eight-bit floating-point types.
#pragma once

#include <cstdint>

#include "base/tensor_spec.h"

namespace symprof {

/// True for float8_e4m3fn, float8_e4m3fnuz, float8_e5m2, float8_e5m2fnuz and float8_e8m0fnu.
bool is_float8(DType dtype);

/// The value of a byte: "FP8 Formats for Deep Learning" (arXiv 2209.05433) and, for the "uz" types,
/// "8-bit Numerical Formats for Deep Neural Networks" (arXiv 2206.02915).
double float8_value(DType dtype, std::uint8_t bits);

/// The byte of the nearest number, ties to the even byte; the largest number for values beyond it.
std::uint8_t nearest_float8(DType dtype, double value);

}  // namespace symprof
