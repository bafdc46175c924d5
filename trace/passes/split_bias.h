// Splits the addition of a bias from the product or convolution that it is part of.
#pragma once

#include "trace/graph/graph.h"

namespace symprof::trace {

/// `y = linear(x, weight, bias)` becomes `y = linear(x, weight)` and `y + bias`, a node each; the
/// same for ATen's convolutions and `addmm`, and for ONNX's Conv, ConvTranspose and Gemm. A
/// convolution's bias is viewed as [channels, 1, …] in a node between. The nodes that are added are
/// named after the first: "conv_bias_view", "conv_bias". What has a factor before its bias
/// (`beta` or `alpha` of addmm and Gemm) stays whole. The Colossal-AI analyzer calls this
/// bias-addition split; its planner needs the two parts apart.
void split_bias(Graph& graph);

}  // namespace symprof::trace
