// com.microsoft: attention with a recurrent state, and the convolution before it.
#pragma once

#include "shape/lowering/lowering.h"

namespace symprof::lowering {

/// LinearAttention. As in transformers' recurrent forms (torch_recurrent_gated_delta_rule), one
/// step for each token: its products with the state are those of the fused kernel.
Tensors linear_attention(OnnxCall& call);

/// GatedDeltaNet: the same with a dimension for heads, and with gates in the node.
Tensors gated_delta_net(OnnxCall& call);

/// LinearAttentionGate: decay_scale x softplus(a + dt_bias), and the sigmoid of b.
Tensors linear_attention_gate(OnnxCall& call);

/// CausalConvWithState: a depthwise convolution over the present and earlier positions of a row;
/// those before the row are the given state, or zeros. The last of them are the next state.
Tensors causal_convolution(OnnxCall& call);

/// VarlenCausalConvWithState: the same over rows that lie one after the other. Where they end is
/// data; they are taken to be of one length.
Tensors packed_causal_convolution(OnnxCall& call);

/// States after each of the last `window` positions as one tensor, zeros before the first; `states`
/// has those of all positions.
at::Tensor window_of_states(const std::vector<at::Tensor>& states, std::int64_t window);

}  // namespace symprof::lowering
