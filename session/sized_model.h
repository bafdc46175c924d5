// A model that is profiled at many sizes, for formulas and for curves of its time.
//
// Public header.
#pragma once

#include <functional>
#include <vector>

#include "plan/formulas/size_samples.h"
#include "profile/profile.h"
#include "session/settings.h"

namespace symprof {

/// A model that is profiled at other sizes each time.
struct SizedModel {
  std::vector<plan::Variable> variables;
  /// Throws Error where the model does not run with these sizes of the variables.
  std::function<Profile(const plan::Sizes&)> profile_at;
  /// Settings of the runs: device and loop, for the allocator.
  Settings settings;
};

}  // namespace symprof
