// Which operators can run on tensors without storage.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include "base/error.h"

namespace symprof::meta {

/// Whether a kernel answers for tensors on `meta`, or one that makes other calls on every device.
/// Below them the dispatcher has a fallback for all operators, which refuses
/// (aten/src/ATen/native/MetaFallbackKernel.cpp).
bool has_shape_kernel(const c10::OperatorHandle& op);

/// Whether the operator is one of PyTorch's own that are written in Python
/// (torch/nn/attention/varlen.py, torch/nn/modules/linear_cross_entropy.py) and is known here by
/// that code: it makes the calls that it makes on a device.
bool is_python_of_torch(const c10::OperatorHandle& op);

/// Whether that fallback refused.
bool lacks_shape_kernel(const c10::Error& error);

/// Throws Error where a program gives a call a sparse or quantized tensor, or gets one from it.
void check_layout(const c10::OperatorHandle& op, const at::Tensor& tensor);

/// That a program calls an operator that has none.
Error no_shape_kernel(const c10::OperatorHandle& op);

}  // namespace symprof::meta
