// Activation checkpointing of a part of a graph as Python's torch.utils.checkpoint does it with
// use_reentrant=False.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <string>
#include <vector>

namespace symprof::shape {

struct CheckpointedFunction {
  using Tensors = std::vector<at::Tensor>;

  std::function<Tensors(const Tensors&)> run;
  /// Runs `body`, which runs the function again inside backward.
  std::function<void(const std::function<void()>& body)> run_again;
  /// True for parameters and buffers: a module's code has them by itself, so they are no inputs to
  /// keep.
  std::function<bool(const at::Tensor&)> is_of_module;
  /// Calls whose outputs are kept besides the inputs: "aten::addmm#0" (record/checkpoint_plan.h).
  std::vector<std::string> kept;
};

/// The value of `function.run(inputs)` on fake tensors, of which only `inputs` are kept for
/// backward. When backward first asks for a tensor that the function saved, it runs again, until as
/// many are saved as before (early stop); each goes when it has been asked for. Calls whose outputs
/// are kept do not run again. Throws Error where the function makes no such call, and c10::Error
/// where an output that is kept is changed later.
std::vector<at::Tensor> graph_checkpoint(CheckpointedFunction function,
                                         const std::vector<at::Tensor>& inputs);

}  // namespace symprof::shape
