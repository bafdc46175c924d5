// Activation checkpointing of a subgraph, as Python's torch.utils.checkpoint with
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
  /// Runs `body`, which recomputes the function inside backward.
  std::function<void(const std::function<void()>& body)> run_again;
  /// True for parameters and buffers: a module holds them itself, so they are not saved as inputs.
  std::function<bool(const at::Tensor&)> is_of_module;
  /// Calls whose outputs are kept in addition to the inputs: "aten::addmm#0"
  /// (record/checkpoint_plan.h).
  std::vector<std::string> kept;
};

/// Returns `function.run(inputs)` on fake tensors and keeps only `inputs` for backward. When
/// backward first needs a saved tensor, the function is recomputed until as many tensors are saved
/// as before (early stop); each is released after its use. Calls with kept outputs are not
/// recomputed. Throws Error if the function makes no such call, and c10::Error if a kept output is
/// changed later.
std::vector<at::Tensor> graph_checkpoint(CheckpointedFunction function,
                                         const std::vector<at::Tensor>& inputs);

}  // namespace symprof::shape
