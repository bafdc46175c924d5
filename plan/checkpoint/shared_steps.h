// Recorded steps of one model in which different regions run again, side by side: the calls that
// they share, and the regions of those.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "plan/checkpoint/shared_calls.h"
#include "plan/checkpoint/sure_costs.h"
#include "record/recording.h"

namespace symprof::plan {

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
  /// The module whose forward pass makes the shared call; none.
  int module_of(std::size_t place) const { return of_call_[place]; }
  /// The shared call before which the module first runs again; never.
  int goes_back(std::size_t module) const { return goes_back_[module]; }

 private:
  bool is_like_plain(const SharedCalls& other) const;
  void read_modules();

  std::map<std::string, std::size_t> modules_;
  SharedCalls plain_, again_, even_, odd_;
  std::vector<int> goes_back_;  // By module.
  std::vector<int> of_call_;    // By shared call.
};

}  // namespace symprof::plan
