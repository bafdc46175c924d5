// What else is done about activations, each carried out as a plan of the same regions.
//
// Public header.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plan/checkpoint/planner.h"

namespace symprof::plan {

struct AlternativePlan {
  std::string name;
  std::optional<PlayedPlan> played;  ///< Empty: it gives no plan here.
  std::string note;                  ///< Why, or what the plan leaves out. May refer to settings.
};

inline constexpr const char* rotor_name = "rotor";

/// Nothing; every region; Chen's square root; rotor within the budget; PyTorch's list of operators
/// to save; AOTAutograd's minimum cut. What `planner` answers afterwards takes them into account.
std::vector<AlternativePlan> play_alternatives(CheckpointPlanner& planner,
                                               std::int64_t budget_bytes);

}  // namespace symprof::plan
