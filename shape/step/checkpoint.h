// Activation checkpointing for LibTorch's C++ modules; LibTorch itself has none.
//
// Public header.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <vector>

namespace symprof {

using TensorsFunction = std::function<std::vector<at::Tensor>(const std::vector<at::Tensor>&)>;
using TensorFunction = std::function<at::Tensor(const at::Tensor&)>;

/// Returns `function(inputs)` and keeps only `inputs` for backward, which recomputes the function
/// from the same random state (CPU, and CUDA if an input is there) and with the same autocast, as
/// torch.utils.checkpoint does. Works on real and fake tensors; in a profile the recomputed forward
/// is part of the backward pass, in the nodes of its first run.
///
/// `function` must make the same calls each time and must not change its inputs. Parameters that it
/// captures get their gradients. Gradients of gradients are refused.
std::vector<at::Tensor> checkpoint(TensorsFunction function, const std::vector<at::Tensor>& inputs);
at::Tensor checkpoint(TensorFunction function, const at::Tensor& input);

}  // namespace symprof
