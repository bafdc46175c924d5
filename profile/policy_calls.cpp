#include "profile/policy_calls.h"

#include <set>
#include <string>

#include "record/region_of_call.h"

namespace symprof::profile {

std::vector<bool> calls_with_policy(const Recording& recording, const CheckpointPlan& plan) {
  std::vector<bool> asks(recording.calls.size(), false);
  std::set<std::string> modules;
  for (const CheckpointRegion& region : plan.regions)
    if (!region.kept.empty()) modules.insert(region.modules.front());
  if (modules.empty()) return asks;
  for (std::size_t i = 0; i < asks.size(); ++i) {
    const Phase phase = recording.calls[i].phase;
    if (phase == Phase::forward || phase == Phase::recompute)
      asks[i] = modules.contains(region_of_call(recording, static_cast<CallId>(i)));
  }
  return asks;
}

}  // namespace symprof::profile
