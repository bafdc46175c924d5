// The activation that a fused operator of com.microsoft ends with.
#pragma once

#include <ATen/core/Tensor.h>

#include "shape/lowering/lowering.h"

namespace symprof::lowering {

/// `x` after the node's "activation", whose numbers are in "activation_params" (FusedConv) or in
/// activation_alpha, activation_beta and activation_gamma; without one, `x`. Throws Error for an
/// activation that is not known.
at::Tensor activated(const OnnxCall& call, const at::Tensor& x);

}  // namespace symprof::lowering
