// Functions of tensors that backward recomputes.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace symprof::shape {

using TensorFunction = std::function<std::vector<at::Tensor>(const std::vector<at::Tensor>&)>;

/// Whose backward runs a function again.
enum class RunAgain : std::uint8_t {
  of_checkpoint,  ///< torch.utils.checkpoint: until all tensors that the region saves are
                  ///< recomputed (early stop).
  of_operator,    ///< Control flow: all of it, and its own backward inside.
};

/// How backward runs a function again.
struct Rerun {
  RunAgain how = RunAgain::of_operator;
  /// Calls of a checkpoint that are not recomputed: their outputs are kept. Named as in
  /// record/checkpoint_plan.h.
  std::vector<std::string> kept;
};

/// Runs a function of tensors and saves nothing that it computes: backward runs the function again
/// when it needs a saved tensor. Empty: the function runs once, as usual.
using Recompute = std::function<std::vector<at::Tensor>(
    TensorFunction, const std::vector<at::Tensor>&, const Rerun&)>;

}  // namespace symprof::shape
