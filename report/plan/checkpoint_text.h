// Sentences about checkpoint plans, and a short form of a plan.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "plan/checkpoint/answers.h"
#include "session/checkpoint_answer.h"
#include "session/session.h"

namespace symprof::report {

/// Several modules of a plan that are treated alike, as one line.
struct PlanLine {
  std::string modules;  ///< "encoder.layers.0, 3 to 7"
  std::int64_t count = 0;
  std::string what;  ///< "not recomputed", "recomputed", "recomputed, except"
  std::string kept;  ///< Operators: "2 addmm, gelu"; empty without one.
};

/// Modules that are called alike but for a number, and treated alike, share a line.
std::vector<PlanLine> lines_of(const CheckpointAnswer& answer, const CheckpointPlan& plan);

/// Per cent of the step without a plan.
double share_of_step(const CheckpointAnswer& answer, double us);

/// The gap to the lower bound: how much less time another plan may take, in per cent of the step
/// without a plan; empty without a plan or a bound.
std::optional<double> gap_of(const CheckpointAnswer& answer, const plan::PlanAnswer& one);

/// What no plan can improve on: its least memory, and its least time within the budget. Empty if
/// neither bound is known.
std::string bound_text(const CheckpointAnswer& answer, const plan::PlanAnswer& one);
/// The least memory of any plan, the call where it is reached, and the categories of memory held
/// there. Empty if unknown.
std::string least_memory_text(const CheckpointAnswer& answer);

std::string verdict(const CheckpointAnswer& answer, const plan::PlanAnswer& one);
std::string budget_text(const CheckpointAnswer& answer, const plan::PlanAnswer& one);
std::string figures_text(const CheckpointAnswer& answer, const plan::SimulatedPlan& simulated);
/// How much memory the loop reserves up front, and how; empty if none.
std::string up_front_text(const CheckpointAnswer& answer, const plan::SimulatedPlan& simulated);
/// The tensors that a plan with warm_start creates before the first step, as "make …"; empty: none.
std::string warm_start_text(const CheckpointAnswer& answer);
/// The simulation with expandable segments for this budget; empty if none was tried.
std::optional<plan::SimulatedPlan> offer_of(const CheckpointAnswer& answer, std::size_t budget);
/// The effect of expandable segments for a budget; `offer` is from CheckpointAnswer::expandable.
std::string expandable_text(const CheckpointAnswer& answer, const plan::SimulatedPlan& offer);
std::string regions_text(const CheckpointAnswer& answer);
std::vector<std::string> notes_of(const CheckpointAnswer& answer);

}  // namespace symprof::report
