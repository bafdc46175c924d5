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
  const Recording& even;   ///< Regions of StepCosts::regions whose side is 0 …
  const Recording& odd;    ///< … and 1.
};

/// The regions of a side.
CheckpointPlan every_second(const StepCosts& costs, int side);
/// Gives regions sides, so that those that read what one makes run again in another recording than
/// it, where that can be. Arguments are those of costs_of_step().
void choose_sides(StepCosts& costs, const Recording& plain, const Recording& again,
                  const std::vector<std::string>& modules);

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
  /// RegionCosts::side; none of modules that are no regions.
  int side(std::size_t module) const { return module < regions_ ? sides_[module] : none; }
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
  std::vector<int> sides_;  // By region.
  std::map<std::string, std::size_t> modules_;
  SharedCalls plain_, again_, even_, odd_;
  std::vector<int> goes_back_;  // By module.
  std::vector<int> of_call_;    // By shared call.
};

}  // namespace symprof::plan
