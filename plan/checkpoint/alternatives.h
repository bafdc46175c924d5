// Other published ways to save activation memory, each simulated as a plan of the same regions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plan/checkpoint/answers.h"
#include "plan/checkpoint/planner.h"

namespace symprof::plan {

inline constexpr const char* rotor_name = "rotor";

/// The alternatives: no checkpoints; every region; Chen's square root; rotor within the budget;
/// PyTorch's list of operators to save; AOTAutograd's minimum cut. Later answers of `planner`
/// consider these plans too.
std::vector<AlternativePlan> simulate_alternatives(CheckpointPlanner& planner,
                                                   std::int64_t budget_bytes);

}  // namespace symprof::plan
