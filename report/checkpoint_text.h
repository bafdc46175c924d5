// Sentences about checkpoint plans, and a plan in few lines.
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
  std::string what;  ///< "as it is", "all again", "again, but for"
  std::string kept;  ///< Operators: "2 addmm, gelu"; empty where there is none.
};

/// Modules that are called alike but for a number, and treated alike, share a line.
std::vector<PlanLine> lines_of(const CheckpointAnswer& answer, const CheckpointPlan& plan);

/// Per cent of the step without a plan.
double share_of_step(const CheckpointAnswer& answer, double us);

/// How much less time another plan may take, in per cent of the step without a plan; empty where
/// there is no plan, or no bound.
std::optional<double> gap_of(const CheckpointAnswer& answer, const plan::PlanAnswer& one);

/// What no plan of the regions goes below: memory, and time within the budget. Empty: not known.
std::string bound_text(const CheckpointAnswer& answer, const plan::PlanAnswer& one);
/// Where the least memory is held, and what for. Empty: not known.
std::string least_memory_text(const CheckpointAnswer& answer);

std::string verdict(const CheckpointAnswer& answer, const plan::PlanAnswer& one);
std::string budget_text(const CheckpointAnswer& answer, const plan::PlanAnswer& one);
std::string figures_text(const CheckpointAnswer& answer, const plan::PlayedPlan& played);
/// What the loop takes up front, and how; empty where it is nothing.
std::string up_front_text(const CheckpointAnswer& answer, const plan::PlayedPlan& played);
/// What the loop of a plan with warm_start makes before its first step, as "make …"; empty:
/// nothing.
std::string warm_start_text(const CheckpointAnswer& answer);
/// CheckpointAnswer::expandable of a budget; empty where nothing was tried.
std::optional<plan::PlayedPlan> offer_of(const CheckpointAnswer& answer, std::size_t budget);
/// What segments that grow would do for a budget; `offer` is of CheckpointAnswer::expandable.
std::string expandable_text(const CheckpointAnswer& answer, const plan::PlayedPlan& offer);
std::string regions_text(const CheckpointAnswer& answer);
std::vector<std::string> notes_of(const CheckpointAnswer& answer);

}  // namespace symprof::report
