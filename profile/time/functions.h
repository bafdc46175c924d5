// Element-wise functions that are compute-bound on a CPU. On a GPU they are memory-bound.
#pragma once

#include <cstdint>
#include <string_view>

#include "profile/time/kernel.h"

namespace symprof::profile {

struct FunctionFacts {
  Function function;
  std::string_view name;
  /// Cycles per element, the initial value of a fit: PyTorch 2.13's AVX-512 code on one core of an
  /// AMD EPYC, with results in cache.
  double cycles;
  std::int64_t bytes;  ///< Bytes per element, read and written in fp32.
};

inline constexpr FunctionFacts function_facts[] = {
    {Function::sqrt, "sqrt", 1.1, 8},
    {Function::exp, "exp", 2.1, 8},
    {Function::log, "log", 2.6, 8},
    {Function::sin, "sin", 3.3, 8},
    {Function::atan, "atan", 6.3, 8},
    {Function::tanh, "tanh", 6.5, 8},
    {Function::sigmoid, "sigmoid", 1.1, 8},
    {Function::erf, "erf", 3.3, 8},
    {Function::gelu, "gelu", 1.3, 8},
    {Function::gelu_tanh, "gelu_tanh", 4.3, 8},
    {Function::gelu_backward, "gelu_backward", 2.1, 12},
    {Function::gelu_tanh_backward, "gelu_tanh_backward", 4.8, 12},
    {Function::silu_backward, "silu_backward", 1.3, 12},
    {Function::mish, "mish", 10, 8},
    {Function::mish_backward, "mish_backward", 11, 12},
    {Function::elu, "elu", 3.5, 8},
    {Function::softplus, "softplus", 3.9, 8},
    {Function::pow, "pow", 6.5, 12},
    {Function::remainder, "remainder", 3.4, 8},
    {Function::lgamma, "lgamma", 16, 8},
    {Function::where, "where", 9, 13},              // The condition is one byte.
    {Function::masked_fill, "masked_fill", 11, 9},  // And so is the mask.
    {Function::compare, "compare", 1, 9},           // And so is the result.
};

}  // namespace symprof::profile
