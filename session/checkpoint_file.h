// Checkpoint plans in files.
#pragma once

#include <string>

#include "record/checkpoint_plan.h"

namespace symprof {

/// Whether a value of the setting `checkpoint` names a file and no modules.
inline bool is_plan_file(const std::string& given) { return given.ends_with(".json"); }

/// A plan as `symprof plan checkpoint` writes it in JSON, or its member "plan" alone. Throws Error:
/// no such file, or no such content.
CheckpointPlan load_checkpoint_plan(const std::string& path);

}  // namespace symprof
