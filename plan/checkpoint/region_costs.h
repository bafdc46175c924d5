// What there is to save in each region of a step, and what it costs to compute it again: read from
// two recordings, the plain step and the one in which every region runs again.
//
// As torch.utils.checkpoint runs them, a region runs again once, when backward first asks for a
// tensor that it saved, from its first call to the last one whose result autograd saves (early
// stop), without the calls whose outputs are kept. So what a region costs is a sum over its calls.
// What it frees is free from the end of its forward pass to that moment; then everything is there
// that would have been there without it.
//
// Public header.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "plan/checkpoint/trial.h"
#include "record/checkpoint_plan.h"
#include "record/recording.h"

namespace symprof::plan {

/// A call whose outputs can be kept: it runs again otherwise, nothing changes them in place, and
/// they are no views.
struct KeepableCall {
  KeptCall call;
  std::int64_t bytes = 0;            ///< Of its outputs, in blocks of 512.
  std::vector<std::int64_t> blocks;  ///< Of each output.
  double cost_us = 0;                ///< What keeping it saves, with what a policy would take.

  bool operator==(const KeepableCall&) const = default;
};

/// By operator: how many calls of it one run makes. Several numbers where runs of a module differ.
using CallNumbers = std::map<std::string, std::set<int>>;

/// All runs of one module together.
struct RegionCosts {
  std::string module;
  CallNumbers call_numbers;  ///< Of its forward passes.
  std::vector<KeepableCall> calls;
  std::vector<KeptCall> cut;     ///< What AOTAutograd would keep (min_cut.h), sorted.
  std::int64_t freed_bytes = 0;  ///< If nothing is kept but the inputs.
  /// Beside that, after all later regions went back: what it made for them.
  std::int64_t freed_last_bytes = 0;
  std::int64_t output_bytes = 0;  ///< What other regions keep of what it makes.
  double cost_us = 0;             ///< Of running all of it again.
  /// Beside that, as soon as a call is kept: a policy is asked about each call (HostCosts).
  double policy_us = 0;
  CallId first_call = none, last_call = none;  ///< Of its forward pass in the plain step.
  /// 0 or 1: of the two recordings in which some regions run again (every_second), the one in which
  /// this one does. Every second, unless choose_sides() says something else.
  int side = 0;
  /// The plain step's call before which backward first asks for what it saved.
  CallId goes_back_before = none;

  /// Of its inputs, where they may wait in host memory; 0: they may not.
  std::int64_t input_bytes = 0;
  double host_us_per_byte = 0;  ///< Of a byte that is copied to the host and back.

  /// As a part of a plan; `kept` are indices into `calls`.
  CheckpointRegion keeping(const std::vector<int>& kept) const;

  /// Equal blocks of a model.
  bool is_like(const RegionCosts& other) const {
    return calls == other.calls && freed_bytes == other.freed_bytes && cost_us == other.cost_us &&
           policy_us == other.policy_us && freed_last_bytes == other.freed_last_bytes &&
           input_bytes == other.input_bytes;
  }
};

/// The most that the plain step holds while no more than the first `regions` regions may have given
/// something up.
struct Window {
  std::size_t regions = 0;
  std::int64_t bytes = 0;
  CallId call = none;  ///< Where that is.
  /// The part of `bytes` that is reserved there for what is held at another moment, whichever
  /// regions run again: by small blocks where this is about large ones, or the other way round.
  std::int64_t other_pool_bytes = 0;
};

struct StepCosts {
  std::vector<RegionCosts> regions;  ///< In the order in which their forward passes end.
  std::vector<Window> windows;       ///< At most one for each number of regions, ascending.
  /// What is reserved is `base_bytes` and a multiple of `unit_bytes`.
  std::int64_t base_bytes = 0, unit_bytes = 1;
  /// Of what all regions cost together, so much costs the step nothing.
  double free_us = 0;

  /// The part of a budget that can be reserved.
  std::int64_t usable(std::int64_t budget_bytes) const {
    return base_bytes + (budget_bytes - base_bytes) / unit_bytes * unit_bytes;
  }
};

/// Operators that AOTAutograd does not compute again (compute_intensive_ops of
/// torch/_functorch/partitioners.py), and that trainers save by default.
bool is_compute_intensive(std::string_view op);

/// `plain` and `again` are recordings of a step without a plan and with one region for each of
/// `modules`; `held_bytes` is by call of `plain`, `cost_us` by call of `again`. `policy_us` is what
/// the step waits for each call that a policy is asked about. Modules that run again nowhere have
/// no region. Throws Error where the two steps do not make the same calls.
StepCosts costs_of_step(const Recording& plain, const Recording& again,
                        const std::vector<std::string>& modules,
                        const std::vector<HeldBytes>& held_bytes,
                        const std::vector<double>& cost_us, double policy_us = 0);

}  // namespace symprof::plan
