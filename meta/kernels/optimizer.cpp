// Optimizer steps and gradient scaling: they write to their arguments and allocate nothing.
#include <ATen/ATen.h>
#include <torch/library.h>

#include "meta/kernels/families.h"

namespace symprof::kernels {
namespace {

void in_place(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  torch::jit::drop(*stack, op.schema().arguments().size());
}

constexpr const char* updates[] = {
    "_fused_adagrad_",
    "_fused_adagrad_.tensor_lr",
    "_fused_adam_",
    "_fused_adam_.tensor_lr",
    "_fused_adamw_",
    "_fused_adamw_.tensor_lr",
    "_fused_sgd_",
    "_fused_sgd_.tensor_lr",
    "_amp_foreach_non_finite_check_and_unscale_",
};

}  // namespace

void register_optimizer(torch::Library& library) {
  for (const char* op : updates) {
    library.impl(op, torch::CppFunction::makeFromBoxedFunction<&in_place>());
  }
}

}  // namespace symprof::kernels
