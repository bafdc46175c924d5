// The result: every figure that a report prints, as plain data. Bytes, counts and FLOPs are
// integers; a figure that was not computed is empty, never zero.
//
// Public header.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/device_spec.h"
#include "profile/cost/cost.h"
#include "profile/memory/memory_data.h"
#include "profile/time_data.h"
#include "record/program_recording.h"
#include "record/recording.h"

namespace symprof {

struct CallProfile {
  CallId call = none;  ///< Index into Recording::calls.
  Cost cost;
  std::optional<CallTime> time;  ///< Empty: not requested, or unknown.
};

/// Further times of a row, besides the counters of its figures.
struct RowTimes {
  std::array<std::int64_t, 7> limited_ns = {};  ///< Nanoseconds, by profile::Limit.
  struct UnknownCalls {
    std::int64_t forward = 0;  ///< And loss.
    std::int64_t backward = 0, optimizer = 0;
  } unknown;
  bool are_there = false;  ///< Times were requested.
};

/// The counters of a row: a node, or several folded into a module or an operator.
/// profile/figures.cpp defines how they are printed and folded.
struct RowFigures {
  std::int64_t accumulate_bytes = 0;   ///< Running sum of incremental bytes, in the rows' order.
  std::int64_t incremental_bytes = 0;  ///< Saved for backward, made by this row.
  std::int64_t output_bytes = 0;       ///< Outputs that are saved (no aliases).
  std::int64_t temp_bytes = 0;         ///< Outputs that are not saved.
  std::int64_t param_bytes = 0;        ///< Parameters that the row uses.
  std::int64_t backward_bytes = 0;     ///< Gradients with respect to the row's inputs.
  std::int64_t fwd_product_flops = 0, fwd_other_flops = 0;
  std::int64_t bwd_product_flops = 0, bwd_other_flops = 0;  ///< Including recomputation.
  /// Forward calls that backward recomputes; part of bwd_product_flops and bwd_other_flops.
  std::int64_t recompute_product_flops = 0, recompute_other_flops = 0;
  std::int64_t optimizer_flops =
      0;                        ///< All FLOPs including products; 0 except in the optimizer's row.
  std::int64_t calls = 0;       ///< In all phases.
  std::int64_t comm_bytes = 0;  ///< Of collectives: the larger of a rank's sent and received bytes.
  std::int64_t moved_bytes = 0;              ///< Read and written in device memory, forward.
  Confidence confidence = Confidence::free;  ///< The least certain of its calls.
  /// Nanoseconds on the device; all 0 until profile::add_times.
  std::int64_t fwd_time_ns = 0, bwd_time_ns = 0, optimizer_time_ns = 0, time_ns = 0;
  std::int64_t time_share = 0;  ///< Of the step's busy time, in parts of a million.
  RowTimes times;
};

struct NodeProfile {
  NodeId node = none;  ///< Index into Recording::nodes.
  RowFigures figures;
  std::vector<CallProfile> calls;  ///< In the order in which they ran, all phases.
};

struct Coverage {
  std::int64_t calls = 0, exact = 0, modelled = 0, free = 0, unmodelled = 0;
  std::vector<std::string> unmodelled_ops;  ///< Sorted, distinct.
};

/// The peak of one step's tensors, each rounded to blocks of 512 bytes, as in
/// torch.distributed._tools.mem_tracker.
struct TensorPeak {
  std::int64_t bytes = 0;
  Phase phase = Phase::forward;
  NodeId node = none;
};

struct Totals {
  /// Products only, like FlopCounterMode; recomputation is in `bwd_flops`.
  std::int64_t fwd_flops = 0, bwd_flops = 0;
  std::int64_t fwd_flops_all = 0, bwd_flops_all = 0;  ///< All FLOPs.
  /// Forward FLOPs recomputed in backward; part of `bwd_flops` and `bwd_flops_all`.
  std::int64_t recompute_flops = 0, recompute_flops_all = 0;
  /// Products of forward and backward; model_flops exclude recomputation (Korthikanti et al., arXiv
  /// 2205.05198).
  std::int64_t hardware_flops = 0, model_flops = 0;
  std::int64_t optimizer_flops = 0;  ///< All; in neither pass.
  std::int64_t param_bytes = 0, param_count = 0, buffer_bytes = 0, input_bytes = 0;
  std::int64_t grad_bytes = 0, optimizer_bytes = 0;
  std::int64_t saved_bytes = 0, saved_bytes_with_inputs = 0;
  std::int64_t offloaded_bytes = 0;  ///< Copies of saved tensors in host memory.
  std::int64_t transfer_bytes = 0;   ///< Moved between device and host, in either direction.
  std::int64_t comm_bytes = 0;       ///< Of collectives, in a step on several ranks.
  /// The key-value cache before and after the step; empty if the step has none.
  std::optional<std::int64_t> kv_cache_bytes, kv_cache_bytes_after;
  std::optional<std::int64_t> kv_cache_bytes_per_token;  ///< For one sequence.
  /// Counted by the simulated allocator over a training loop (profile/memory/step_memory.h).
  std::int64_t peak_allocated_bytes = 0, peak_reserved_bytes = 0;
  Phase peak_phase = Phase::forward;
  NodeId peak_node = none;
  TensorPeak tensor_peak;
  /// Peak of requested bytes; filled only by session/formulas.cpp.
  std::optional<std::int64_t> peak_requested_bytes;
};

/// A named dimension of the inputs.
struct NamedSize {
  std::string name;  ///< As in settings: "batch".
  std::int64_t size = 0;
  bool is_given = false;  ///< By a setting; else it is from the file's example.
};

/// Another kind of step of the same program, with other optimizers (e.g. in a GAN).
struct OtherStep {
  std::size_t step = 0;  ///< The last of its kind, counted from 1.
  std::vector<ProgramOptimizer> optimizers;
  Totals totals;
};

/// The position of the step in an executed program.
struct ProgramFacts {
  std::size_t step = 0;   ///< Counted from 1; 0: no step ended, and the whole run is profiled.
  std::size_t steps = 0;  ///< Number of completed steps.
  int passes = 0;         ///< Runs of autograd's engine in the step.
  std::vector<ProgramOptimizer> optimizers;  ///< Optimizers that update in it, in order.
  int between_passes = 0;   ///< Gradient-free passes before the step, outside of any step.
  bool is_between = false;  ///< These passes are profiled.
  std::vector<OtherStep> others;
};

struct Profile {
  Recording recording;
  std::vector<NodeProfile> nodes;  ///< One for each of recording.nodes, same order.
  Totals totals;
  Coverage coverage;
  StepMemory memory;
  std::optional<StepTime> time;         ///< Empty if not requested (profile/step_time.h).
  std::vector<NamedSize> sizes;         ///< In the step; filled only by session/session.cpp.
  std::optional<ProgramFacts> program;  ///< Only for a program's step.
  std::vector<std::string> warnings;    ///< May refer to settings (base/setting.h).
};

namespace profile {

/// Computes all figures, and runs the step on the simulated allocator of `device`. Throws Error on
/// overflow of a 64-bit sum.
Profile evaluate(Recording recording, const DeviceSpec& device, const LoopOptions& loop = {});

/// Computes the figures without memory: `memory`, and the totals derived from it, stay default.
Profile evaluate_costs(Recording recording);

}  // namespace profile
}  // namespace symprof
