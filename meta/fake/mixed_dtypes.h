// Operators that CUDA refuses for operands of mixed dtypes, although a meta kernel accepts them.
#pragma once

#include <ATen/core/function_schema.h>
#include <ATen/core/stack.h>

#include <cstdint>

#include "base/error.h"

namespace symprof::meta {

/// A call that CUDA refuses for its operands' dtypes.
struct MixedDTypes final : Error {
  explicit MixedDTypes(std::string problem);
};

/// The arguments of an operator whose tensors must have one dtype, as a bit mask; 0 for an operator
/// that accepts any, or checks dtypes itself.
std::uint32_t arguments_of_one_dtype(const c10::FunctionSchema& schema);

/// Throws MixedDTypes if those arguments, which begin at `first` of the stack, have several dtypes.
void check_one_dtype(const c10::FunctionSchema& schema, const torch::jit::Stack& stack,
                     std::size_t first, std::uint32_t arguments);

}  // namespace symprof::meta
