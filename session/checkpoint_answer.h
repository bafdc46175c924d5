// The verb plan checkpoint: which activations to keep and which to recompute, within a budget.
//
// Public header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/device_spec.h"
#include "plan/checkpoint/answers.h"
#include "plan/fit.h"
#include "profile/memory/memory_data.h"
#include "record/recording.h"
#include "session/settings.h"

namespace symprof {

/// The question of Session::plan_checkpoint: which activations to keep and which to recompute.
struct CheckpointQuestion {
  /// Device memory of the process, CUDA's context included, in bytes. Empty: the device's memory
  /// for one budget, and the curve over all of them.
  std::vector<std::int64_t> budgets;
  /// Modules that may be recomputed; empty: plan::regions_of chooses them.
  std::vector<std::string> regions;
  /// False: whole modules are recomputed, as shape/step/checkpoint.h does in C++.
  bool keeps_calls = true;
  /// False: each module is a segment of its own, as with Python's hooks.
  bool joins_modules = true;
  /// True: checkpoint inputs and saved tensors may be offloaded to host memory.
  bool offloads = false;
  /// Points of the curve; 0: no curve.
  int curve_points = 20;
  /// True: alternatives are simulated beside the first budget's plan. Without a budget, Rotor gets
  /// the memory of the curve's knee.
  bool wants_alternatives = true;
  /// True: also plan with expandable segments (CheckpointAnswer::expandable).
  bool tries_expandable = false;
};

struct CheckpointAnswer {
  Settings settings;  ///< As they ran: see PreparedModel.
  DeviceSpec device;
  std::string model;
  std::vector<std::string> regions;                       ///< Modules that may be recomputed.
  std::map<std::string, plan::CallNumbers> call_numbers;  ///< By region.
  std::vector<plan::NotTried> left_out;                   ///< Modules that cannot, and why.
  std::size_t block_types = 0;
  plan::SimulatedPlan plain, all_again;
  double plain_step_us = 0;
  bool offloads = false;  ///< As it was asked.
  /// The step is host-bound: times are those of the host that issues the calls.
  bool waits_for_host = false;
  bool uses_cublas = false;        ///< cuBLAS keeps a workspace for each thread.
  std::int64_t unknown_calls = 0;  ///< Without a time.
  std::int64_t context_bytes = 0;  ///< Set aside of each budget.
  bool is_context_given = false;
  std::vector<plan::PlanAnswer> answers;  ///< By budget; these budgets exclude the context.
  /// By budget: the plan that fits it in less time with `expandable_segments:True`, or at all.
  /// Empty where none does, and where the settings choose the segments.
  std::vector<std::optional<plan::SimulatedPlan>> expandable;
  std::vector<plan::PlanAnswer> curve;              ///< Ascending in memory.
  std::vector<plan::AlternativePlan> alternatives;  ///< Within the first budget.
  std::size_t plans_simulated = 0;
  Recording recording;  ///< The plain step.
  /// Lower bound of the memory with any plan that recomputes regions one by one, with its call, and
  /// the memory of the plain step at that call. Empty: unknown.
  std::optional<plan::Window> least;
  MemoryBreakdown plain_at_least;
};

}  // namespace symprof
