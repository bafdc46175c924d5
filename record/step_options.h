// The options of one step: model code, loss, optimizer and device.
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
/// Handling of unbacked (data-dependent) sizes, such as nonzero's: an error, or their upper bounds.
enum class UnbackedSizes : std::uint8_t { refuse, max };
/// The tensors that an operator without a rule is taken to save for backward; `unknown` refuses to
/// train through it.
enum class AssumedSaved : std::uint8_t { unknown, nothing, inputs, outputs, both };
/// Rounding of fp32 products, as in torch.set_float32_matmul_precision: below `highest` to TF32, if
/// the device supports it.
enum class MatmulPrecision : std::uint8_t { highest, high, medium };
enum class AttentionBackend : std::uint8_t { automatic, math, flash, efficient, cudnn };

/// Called periodically with a stage ("forward"), the work done and the total work.
using Progress = std::function<void(std::string_view, std::int64_t, std::int64_t)>;

/// The optimizer updates one rank's shards instead of the parameters, as under FSDP2
/// (torch/distributed/fsdp/_fully_shard): dimension 0 of each, split into equal parts.
struct ShardedUpdate {
  std::int64_t ranks = 1;
  std::int64_t rank = 0;
  std::optional<DType> dtype;  ///< Dtype of the shards; empty: the parameters'.
};

struct StepOptions {
  Mode mode = Mode::train;
  Loss loss = Loss::ones;
  Optimizer optimizer = Optimizer::none;
  /// Empty: the default on CUDA (record/optimizers.h).
  std::optional<OptimizerVariant> optimizer_variant;
  /// The gradients are clipped by torch.nn.utils.clip_grad_norm_ before the update.
  bool clip_grad_norm = false;
  /// torch.amp.GradScaler scales the loss and unscales the gradients before the update.
  bool grad_scaler = false;
  /// The optimizer updates fp32 copies of half-precision parameters
  /// (shape/recipe/master_weights.h).
  bool master_weights = false;
  /// Set by a Session from `parallel`.
  std::optional<ShardedUpdate> sharded_update;
  std::optional<ParallelOptions> parallel;  ///< Empty: one GPU.
  std::optional<DType> autocast;
  AttentionBackend attention = AttentionBackend::automatic;
  /// Empty: the last value of torch.set_float32_matmul_precision in this process, `highest` if it
  /// was not called.
  std::optional<MatmulPrecision> float32_matmul_precision;
  /// Lifetimes of results in a graph's forward pass; C++ modules have the lifetimes of their code.
  Lifetimes lifetimes = Lifetimes::frames;
  /// Bias additions are separate nodes (operators: trace/passes/split_bias.h).
  bool split_bias = false;
  /// Modules of a graph whose activations are recomputed in backward
  /// (trace/passes/checkpoint_modules.h). C++ modules call symprof::checkpoint themselves.
  std::vector<std::string> checkpoint;
  /// Further recomputed modules and the activations that they keep, module by module. For graphs.
  CheckpointPlan checkpoint_plan;
  /// Parameters of a graph without gradient and update, in addition to those frozen in the file
  /// (trace/passes/frozen_parameters.h). C++ modules call set_requires_grad(false) themselves.
  std::vector<std::string> freeze;
  /// Modules whose saved tensors are offloaded to host memory until backward, as under
  /// torch.autograd.graph.save_on_cpu(pin_memory=True); patterns as in `checkpoint`, and "*" for
  /// the whole model. C++ modules: only "*".
  std::vector<std::string> offload_saved;
  /// Tokens in a graph's key-value cache before the step (trace/passes/key_value_cache.h); only in
  /// inference.
  std::optional<std::int64_t> kv_cache;
  UnbackedSizes unbacked = UnbackedSizes::refuse;
  AssumedSaved assume_saved = AssumedSaved::unknown;
  DeviceSpec device;
  Progress progress;
};

/// The optimizer's variant. Meaningless for Optimizer::none.
inline OptimizerVariant variant_of(const StepOptions& options) {
  if (options.optimizer_variant || options.optimizer == Optimizer::none)
    return options.optimizer_variant.value_or(OptimizerVariant::foreach);
  return variants_of(options.optimizer).front();
}

}  // namespace symprof
