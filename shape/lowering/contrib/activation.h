// The final activation of a fused com.microsoft operator.
#pragma once

#include <ATen/core/Tensor.h>

#include "shape/lowering/lowering.h"

namespace symprof::lowering {

/// `x` after the node's "activation", whose parameters are in "activation_params" (FusedConv) or in
/// activation_alpha, activation_beta and activation_gamma. Returns `x` if there is no activation.
/// Throws Error for an unknown activation.
at::Tensor activated(const OnnxCall& call, const at::Tensor& x);

}  // namespace symprof::lowering
