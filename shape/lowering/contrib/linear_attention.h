// com.microsoft: attention with a recurrent state, and the convolution before it.
#pragma once

#include "shape/lowering/lowering.h"

namespace symprof::lowering {

/// LinearAttention. As in transformers' recurrent forms (torch_recurrent_gated_delta_rule), one
/// step for each token: its products with the state are those of the fused kernel.
Tensors linear_attention(OnnxCall& call);

/// CausalConvWithState: a depthwise convolution over the present and earlier positions of a row;
/// those before the row are the given state, or zeros. The last of them are the next state.
Tensors causal_convolution(OnnxCall& call);

}  // namespace symprof::lowering
