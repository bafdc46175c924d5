// Activation checkpointing for LibTorch's C++ modules, which have none of their own.
//
// Public header.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <vector>

namespace symprof {

using TensorsFunction = std::function<std::vector<at::Tensor>(const std::vector<at::Tensor>&)>;
using TensorFunction = std::function<at::Tensor(const at::Tensor&)>;

/// The value of `function(inputs)`, of which only `inputs` are kept for backward: there it runs
/// again, from the same random state (CPU, and CUDA where an input lies) and with the same
/// autocast, as torch.utils.checkpoint does. Works on real and on fake tensors; in a profile the
/// forward that runs again is part of the backward pass, in the nodes of its first run.
///
/// `function` has to make the same calls each time, and not to change its inputs. Parameters that
/// it captures get their gradients. Gradients of gradients are refused.
std::vector<at::Tensor> checkpoint(TensorsFunction function, const std::vector<at::Tensor>& inputs);
at::Tensor checkpoint(TensorFunction function, const at::Tensor& input);

}  // namespace symprof
