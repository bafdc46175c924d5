// What one step is: which model code, loss, optimizer and device it has.
//
// Public header.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/device_spec.h"
#include "base/tensor_spec.h"
#include "record/checkpoint_plan.h"
#include "record/lifetimes.h"
#include "record/optimizers.h"
#include "record/parallel_options.h"

namespace symprof {

enum class Mode : std::uint8_t { train, eval, inference };
enum class Loss : std::uint8_t { ones, sum, mean, cross_entropy, mse };
/// What becomes of unbacked sizes, those that only data could tell (of nonzero's result): they are
/// errors, or their upper bounds stand for them.
enum class UnbackedSizes : std::uint8_t { refuse, max };
/// How far products of fp32 numbers may be rounded, as in torch.set_float32_matmul_precision: below
/// `highest` to TF32, where the device can.
enum class MatmulPrecision : std::uint8_t { highest, high, medium };
enum class AttentionBackend : std::uint8_t { automatic, math, flash, efficient, cudnn };

/// Called from time to time with a stage ("forward"), how much of it is done, and how much it is.
using Progress = std::function<void(std::string_view, std::int64_t, std::int64_t)>;

/// The optimizer updates one rank's shards of the parameters in place of the parameters, as under
/// FSDP2 (torch/distributed/fsdp/_fully_shard): dimension 0 of each, cut into equal parts.
struct ShardedUpdate {
  std::int64_t ranks = 1;
  std::int64_t rank = 0;
  std::optional<DType> dtype;  ///< Of the shards; empty: the parameters'.
};

struct StepOptions {
  Mode mode = Mode::train;
  Loss loss = Loss::ones;
  Optimizer optimizer = Optimizer::none;
  /// Empty: the one that runs on CUDA when none is asked for (record/optimizers.h).
  std::optional<OptimizerVariant> optimizer_variant;
  /// The gradients go through torch.nn.utils.clip_grad_norm_ before the update.
  bool clip_grad_norm = false;
  /// torch.amp.GradScaler scales the loss, and unscales the gradients before the update.
  bool grad_scaler = false;
  /// The optimizer updates fp32 copies of the parameters in half precision
  /// (shape/recipe/master_weights.h).
  bool master_weights = false;
  /// Set by a Session from `parallel`.
  std::optional<ShardedUpdate> sharded_update;
  std::optional<ParallelOptions> parallel;  ///< Empty: one GPU.
  std::optional<DType> autocast;
  AttentionBackend attention = AttentionBackend::automatic;
  /// Empty: what torch.set_float32_matmul_precision was last called with in this process, `highest`
  /// where it was not.
  std::optional<MatmulPrecision> float32_matmul_precision;
  /// How long results live in the forward pass of a graph; C++ modules keep what their code keeps.
  Lifetimes lifetimes = Lifetimes::frames;
  /// A bias is added by a node of its own (trace/passes/split_bias.h says for which operators).
  bool split_bias = false;
  /// Modules of a graph whose activations are computed again in backward
  /// (trace/passes/checkpoint_modules.h). C++ modules call symprof::checkpoint themselves.
  std::vector<std::string> checkpoint;
  /// What else is computed again, and what of it is kept, module by module. Of a graph.
  CheckpointPlan checkpoint_plan;
  /// Parameters of a graph that get no gradient and no update, besides those that the file freezes
  /// (trace/passes/frozen_parameters.h). C++ modules call set_requires_grad(false) themselves.
  std::vector<std::string> freeze;
  /// Modules whose saved tensors wait for backward in host memory, as under
  /// torch.autograd.graph.save_on_cpu(pin_memory=True); patterns as those of `checkpoint`, and "*"
  /// for the whole model. C++ modules: "*" alone.
  std::vector<std::string> offload_saved;
  /// Tokens that the key-value cache of a graph holds before the step
  /// (trace/passes/key_value_cache.h); in inference only.
  std::optional<std::int64_t> kv_cache;
  UnbackedSizes unbacked = UnbackedSizes::refuse;
  DeviceSpec device;
  Progress progress;
};

/// The variant of the optimizer that runs. The answer for Optimizer::none means nothing.
inline OptimizerVariant variant_of(const StepOptions& options) {
  if (options.optimizer_variant || options.optimizer == Optimizer::none)
    return options.optimizer_variant.value_or(OptimizerVariant::foreach);
  return variants_of(options.optimizer).front();
}

}  // namespace symprof
