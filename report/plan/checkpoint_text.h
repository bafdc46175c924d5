// Sentences about checkpoint plans, and a short form of a plan.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "session/session.h"

namespace symprof::report {

/// Equal lines of a plan as one.
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

/// The lower bound of any plan of the regions: memory, and time within the budget. Empty: unknown.
std::string bound_text(const CheckpointAnswer& answer, const plan::PlanAnswer& one);
/// The lower bound of the memory, its call, and the categories held there. Empty: unknown.
std::string least_memory_text(const CheckpointAnswer& answer);

std::string verdict(const CheckpointAnswer& answer, const plan::PlanAnswer& one);
std::string budget_text(const CheckpointAnswer& answer, const plan::PlanAnswer& one);
std::string figures_text(const CheckpointAnswer& answer, const plan::SimulatedPlan& simulated);
/// The memory that the loop reserves up front, and how; empty if none.
std::string up_front_text(const CheckpointAnswer& answer, const plan::SimulatedPlan& simulated);
/// The tensors that a plan with warm_start creates before the first step, as "make …"; empty: none.
std::string warm_start_text(const CheckpointAnswer& answer);
/// CheckpointAnswer::expandable of a budget; empty where nothing was tried.
std::optional<plan::SimulatedPlan> offer_of(const CheckpointAnswer& answer, std::size_t budget);
/// The effect of expandable segments for a budget; `offer` is from CheckpointAnswer::expandable.
std::string expandable_text(const CheckpointAnswer& answer, const plan::SimulatedPlan& offer);
std::string regions_text(const CheckpointAnswer& answer);
std::vector<std::string> notes_of(const CheckpointAnswer& answer);

}  // namespace symprof::report
