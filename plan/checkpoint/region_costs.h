// What recomputing each region of a step saves and costs: read from two recordings, the plain step
// and the fully checkpointed one.
//
// As in torch.utils.checkpoint, a region is recomputed once, when backward first needs a tensor
// that it saved, from its first call to the last one whose result autograd saves (early stop),
// without the calls whose outputs are kept. So the cost of a region is a sum over its calls. Its
// memory is free from the end of its forward pass until its recomputation; afterward everything is
// allocated that would be without a checkpoint.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "plan/checkpoint/answers.h"
#include "plan/checkpoint/trial.h"
#include "record/checkpoint_plan.h"
#include "record/recording.h"

namespace symprof::plan {

/// A call whose outputs can be kept: it is recomputed otherwise, nothing modifies them in place,
/// and they are not views.
struct KeepableCall {
  KeptCall call;
  std::int64_t bytes = 0;            ///< Of its outputs, in blocks rounded up to 512 bytes.
  std::vector<std::int64_t> blocks;  ///< Of each output.
  double cost_us = 0;  ///< The time saved by keeping it, its share of the policy included.

  bool operator==(const KeepableCall&) const = default;
};

/// All runs of one module together.
struct RegionCosts {
  std::string module;
  CallNumbers call_numbers;  ///< In its forward passes.
  std::vector<KeepableCall> calls;
  std::vector<KeptCall> cut;     ///< The calls that AOTAutograd would keep (min_cut.h), sorted.
  std::int64_t freed_bytes = 0;  ///< If nothing but the inputs is kept.
  /// Freed in addition once all later regions have been recomputed: the region's outputs that those
  /// needed.
  std::int64_t freed_last_bytes = 0;
  std::int64_t output_bytes = 0;  ///< Its outputs that other regions keep.
  double cost_us = 0;             ///< Of recomputing all of it.
  /// Added to the cost if any call is kept: selective checkpointing evaluates a policy at each call
  /// (HostCosts).
  double policy_us = 0;
  CallId first_call = none, last_call = none;  ///< Of its forward pass in the plain step.
  /// 0 or 1: which of the two half-checkpointed recordings (every_second) recomputes it.
  /// Alternating, unless choose_sides() changes it.
  int side = 0;
  /// The plain step's call at which backward first needs a tensor that the region saved: the region
  /// is recomputed before it.
  CallId recomputed_before = none;

  /// Bytes of the region's inputs if these may be offloaded to host memory; 0: they may not.
  std::int64_t input_bytes = 0;
  double host_us_per_byte = 0;  ///< For copying a byte to the host and back.

  /// The region in a plan; `kept` are indices into `calls`.
  CheckpointRegion keeping(const std::vector<int>& kept) const;

  /// True for equal blocks of a model.
  bool is_like(const RegionCosts& other) const {
    return calls == other.calls && freed_bytes == other.freed_bytes && cost_us == other.cost_us &&
           policy_us == other.policy_us && freed_last_bytes == other.freed_last_bytes &&
           input_bytes == other.input_bytes;
  }
};

struct StepCosts {
  std::vector<RegionCosts> regions;  ///< In the order in which their forward passes end.
  std::vector<Window> windows;       ///< At most one for each number of regions, ascending.
  /// Reserved memory is `base_bytes` plus a multiple of `unit_bytes`.
  std::int64_t base_bytes = 0, unit_bytes = 1;
  /// The part of the regions' total cost that does not lengthen the step.
  double free_us = 0;

  /// The part of a budget that can be reserved: the base and whole units.
  std::int64_t usable(std::int64_t budget_bytes) const {
    return base_bytes + (budget_bytes - base_bytes) / unit_bytes * unit_bytes;
  }
};

/// Operators that AOTAutograd does not recompute (compute_intensive_ops of
/// torch/_functorch/partitioners.py), and that trainers save by default.
bool is_compute_intensive(std::string_view op);

/// `plain` and `again` are recordings of a step without a plan and with one region for each of
/// `modules`; `held_bytes` is by call of `plain`, `cost_us` by call of `again`. `policy_us` is the
/// step's wait per call for which a policy is evaluated. Modules that are never recomputed get no
/// region. Throws Error where the two steps do not make the same calls.
StepCosts costs_of_step(const Recording& plain, const Recording& again,
                        const std::vector<std::string>& modules,
                        const std::vector<HeldBytes>& held_bytes,
                        const std::vector<double>& cost_us, double policy_us = 0);

}  // namespace symprof::plan
