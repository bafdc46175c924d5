// Operators that CUDA refuses for operands of several dtypes, where a meta kernel takes any.
#pragma once

#include <ATen/core/function_schema.h>
#include <ATen/core/stack.h>

#include <cstdint>

#include "base/error.h"

namespace symprof::meta {

/// A call that CUDA refuses for the dtypes of its operands.
struct MixedDTypes final : Error {
  explicit MixedDTypes(std::string problem);
};

/// The arguments of an operator whose tensors must have one dtype, a bit for each; 0 for an
/// operator that takes any, or that says itself what it refuses.
std::uint32_t arguments_of_one_dtype(const c10::FunctionSchema& schema);

/// Throws MixedDTypes where those arguments, which begin at `first` of the stack, have several.
void check_one_dtype(const c10::FunctionSchema& schema, const torch::jit::Stack& stack,
                     std::size_t first, std::uint32_t arguments);

}  // namespace symprof::meta
