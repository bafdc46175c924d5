// Boxed kernels for `out=` overloads: one function serves any signature.
#pragma once

#include <ATen/core/stack.h>

namespace c10 {
class OperatorHandle;
}

namespace symprof::kernels {

/// Every output gets the broadcast size of all tensor inputs.
void elementwise_into(const c10::OperatorHandle& op, torch::jit::Stack* stack);

/// Every output gets the size that the functional overload returns.
void functional_into(const c10::OperatorHandle& op, torch::jit::Stack* stack);

}  // namespace symprof::kernels
