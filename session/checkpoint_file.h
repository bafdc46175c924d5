// Checkpoint plans in files.
#pragma once

#include <string>

#include "record/checkpoint_plan.h"

namespace symprof {

/// True if a value of the setting `checkpoint` names a file rather than modules.
inline bool is_plan_file(const std::string& given) { return given.ends_with(".json"); }

/// Reads a plan that `symprof plan checkpoint` wrote as JSON, or its member "plan" alone. Throws
/// Error for a missing file or other content.
CheckpointPlan load_checkpoint_plan(const std::string& path);

}  // namespace symprof
