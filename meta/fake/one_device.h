// Operators that CUDA refuses for operands on several devices. A meta kernel does not see where its
// operands lie.
#pragma once

#include <ATen/core/function_schema.h>
#include <ATen/core/stack.h>

namespace symprof::meta {

/// Whether CUDA kernels of the operator take real tensors beside those on the device: they copy,
/// index by them or read them in host memory. Custom operators are not judged.
bool takes_host_tensors(const c10::FunctionSchema& schema);

/// Throws c10::Error as PyTorch does, where a tensor in host memory that is no single number stands
/// beside fake ones on the device. The arguments begin at `first` of the stack.
void check_one_device(const c10::FunctionSchema& schema, const torch::jit::Stack& stack,
                      std::size_t first);

}  // namespace symprof::meta
