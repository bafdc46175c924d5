// Recordings of one model with different regions recomputed, side by side: the calls that they
// share, and the regions of those calls.
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

/// Recorded steps in which some regions are recomputed, each keeping its inputs alone.
struct RecordedChoices {
  const Recording& plain;
  const Recording& again;  ///< All modules are recomputed.
  const Recording& even;   ///< Regions of StepCosts::regions whose side is 0 …
  const Recording& odd;    ///< … and 1.
};

/// The plan that recomputes the regions of one side.
CheckpointPlan every_second(const StepCosts& costs, int side);
/// 2-colors the regions so that, where possible, the producer and the consumer of a tensor are
/// recomputed in different recordings. Takes the arguments of costs_of_step().
void choose_sides(StepCosts& costs, const Recording& plain, const Recording& again,
                  const std::vector<std::string>& modules);

/// The regions that decide about the lifetime of a forward storage, as indices of
/// SharedSteps::modules().
struct Holders {
  int maker = none;       ///< The module that made it.
  std::set<int> readers;  ///< Other modules that read it.
};

class SharedSteps {
 public:
  /// What `recorded` refers to must outlive this.
  SharedSteps(const StepCosts& costs, const RecordedChoices& recorded,
              const std::vector<std::string>& modules);

  const SharedCalls& plain() const { return plain_; }
  const SharedCalls& again() const { return again_; }
  const SharedCalls& even() const { return even_; }
  const SharedCalls& odd() const { return odd_; }

  /// True if all steps make the same calls apart from recomputed ones.
  bool are_alike() const;

  /// By name, those of StepCosts::regions first; the others are no plan's choice.
  const std::map<std::string, std::size_t>& modules() const { return modules_; }
  /// The number of modules that are regions of the costs.
  std::size_t regions() const { return regions_; }
  /// RegionCosts::side; none for modules that are not regions.
  int side(std::size_t module) const { return module < regions_ ? sides_[module] : none; }
  /// The module whose forward pass makes the shared call, or none.
  int module_of(std::size_t place) const { return of_call_[place]; }
  /// The shared call before which the module is first recomputed, or never.
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
