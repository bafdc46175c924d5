// Tests if operators can run on tensors without storage.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include "base/error.h"

namespace symprof::meta {

/// True if the operator has a `meta` kernel, or a composite kernel for all devices. For all others
/// the dispatcher has a fallback that refuses (aten/src/ATen/native/MetaFallbackKernel.cpp).
bool has_shape_kernel(const c10::OperatorHandle& op);

/// True for PyTorch operators that are written in Python (torch/nn/attention/varlen.py,
/// torch/nn/modules/linear_cross_entropy.py) and run here by that code: they make the calls that
/// they make on a device.
bool is_python_of_torch(const c10::OperatorHandle& op);

/// True if that fallback refused the call.
bool lacks_shape_kernel(const c10::Error& error);

/// Throws Error if a program passes a sparse or quantized tensor to a call, or gets one from it.
void check_layout(const c10::OperatorHandle& op, const at::Tensor& tensor);

/// The error for a program's call of an operator without a shape kernel.
Error no_shape_kernel(const c10::OperatorHandle& op);

}  // namespace symprof::meta
