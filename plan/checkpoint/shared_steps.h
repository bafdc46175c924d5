// Recorded steps of one model in which different regions run again, side by side: the calls that
// they share, and the regions of those.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "plan/checkpoint/region_costs.h"
#include "plan/checkpoint/shared_calls.h"
#include "record/checkpoint_plan.h"
#include "record/recording.h"

namespace symprof::plan {

/// Steps with some regions that run again, each keeping its inputs alone.
struct RecordedChoices {
  const Recording& plain;
  const Recording& again;  ///< All modules.
  const Recording& even;   ///< Regions 0, 2, … of StepCosts::regions.
  const Recording& odd;    ///< Regions 1, 3, …
};

/// Every second region, from `first` on.
CheckpointPlan every_second(const StepCosts& costs, std::size_t first);

/// Who decides how long a storage of the forward pass lives, by SharedSteps::modules().
struct Holders {
  int maker = none;       ///< The module that made it.
  std::set<int> readers;  ///< Other modules.
};

class SharedSteps {
 public:
  /// What `recorded` refers to has to outlive this.
  SharedSteps(const StepCosts& costs, const RecordedChoices& recorded,
              const std::vector<std::string>& modules);

  const SharedCalls& plain() const { return plain_; }
  const SharedCalls& again() const { return again_; }
  const SharedCalls& even() const { return even_; }
  const SharedCalls& odd() const { return odd_; }

  /// Whether all steps make the same calls but for those that run again.
  bool are_alike() const;

  /// By name; those of StepCosts::regions first, as what the others free is no plan's choice.
  const std::map<std::string, std::size_t>& modules() const { return modules_; }
  /// How many of them are regions of the costs.
  std::size_t regions() const { return regions_; }
  /// The module whose forward pass makes the shared call; none.
  int module_of(std::size_t place) const { return of_call_[place]; }
  /// The shared call before which the module first runs again; never.
  int goes_back(std::size_t module) const { return goes_back_[module]; }
  /// By storage of the plain step.
  std::vector<Holders> holders() const;

 private:
  bool is_like_plain(const SharedCalls& other) const;
  void read_modules();

  std::size_t regions_;
  std::map<std::string, std::size_t> modules_;
  SharedCalls plain_, again_, even_, odd_;
  std::vector<int> goes_back_;  // By module.
  std::vector<int> of_call_;    // By shared call.
};

}  // namespace symprof::plan
