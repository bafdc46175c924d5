// Operators that CUDA refuses for operands on several devices. A meta kernel does not see its
// operands' devices.
#pragma once

#include <ATen/core/function_schema.h>
#include <ATen/core/stack.h>
#include <c10/core/Device.h>

namespace symprof::meta {

/// True if the operator's CUDA kernels accept host tensors among device tensors: for copies, as
/// indices, or read on the host. Also true for custom operators, which are not checked.
bool takes_host_tensors(const c10::FunctionSchema& schema);

/// Throws c10::Error as PyTorch does for a host tensor, other than a single number, among fake
/// device tensors. The arguments begin at `first` of the stack.
void check_one_device(const c10::FunctionSchema& schema, const torch::jit::Stack& stack,
                      std::size_t first);

/// Throws an error for a CUDA device other than the first: a program has one simulated device.
void check_index(const c10::Device& device);

}  // namespace symprof::meta
