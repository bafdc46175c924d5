#include "plan/checkpoint/shared_steps.h"

#include <algorithm>
#include <array>

#include "record/region_of_call.h"

namespace symprof::plan {
namespace {

std::map<std::string, std::size_t> numbered(const StepCosts& costs,
                                            const std::vector<std::string>& modules) {
  std::map<std::string, std::size_t> numbers;
  for (const RegionCosts& region : costs.regions) numbers.emplace(region.module, numbers.size());
  for (const std::string& module : modules) numbers.emplace(module, numbers.size());
  return numbers;
}

}  // namespace

CheckpointPlan every_second(const StepCosts& costs, int side) {
  CheckpointPlan plan;
  for (const RegionCosts& region : costs.regions)
    if (region.side == side) plan.regions.push_back({.modules = {region.module}});
  return plan;
}

/// Assigns regions greedily: each to the side with which it exchanges fewer bytes.
void choose_sides(StepCosts& costs, const Recording& plain, const Recording& again,
                  const std::vector<std::string>& modules) {
  const SharedSteps steps(costs, {plain, again, again, again}, modules);
  if (!steps.are_alike()) return;
  const std::size_t regions = costs.regions.size();
  std::vector<std::map<std::size_t, std::int64_t>> between(regions);
  const std::vector<Holders> holders = steps.holders();
  for (std::size_t i = 0; i < holders.size(); ++i) {
    const auto maker = static_cast<std::size_t>(holders[i].maker);
    if (holders[i].maker == none || maker >= regions) continue;
    for (const int one : holders[i].readers) {
      const auto reader = static_cast<std::size_t>(one);
      if (reader >= regions) continue;
      const std::int64_t bytes = steps.plain().bytes(static_cast<StorageId>(i));
      between[maker][reader] += bytes;
      between[reader][maker] += bytes;
    }
  }
  for (std::size_t i = 0; i < regions; ++i) {
    std::array<std::int64_t, 2> shared{};
    for (const auto& [other, bytes] : between[i])
      if (other < i) shared[static_cast<std::size_t>(costs.regions[other].side)] += bytes;
    const int other_than_last = i == 0 ? 0 : 1 - costs.regions[i - 1].side;
    costs.regions[i].side = shared[0] == shared[1]  ? other_than_last
                            : shared[0] < shared[1] ? 0
                                                    : 1;
  }
}

SharedSteps::SharedSteps(const StepCosts& costs, const RecordedChoices& recorded,
                         const std::vector<std::string>& modules)
    : regions_(costs.regions.size()),
      modules_(numbered(costs, modules)),
      plain_(recorded.plain, modules_),
      again_(recorded.again, modules_),
      even_(recorded.even, modules_),
      odd_(recorded.odd, modules_) {
  for (const RegionCosts& region : costs.regions) sides_.push_back(region.side);
  if (are_alike()) read_modules();
}

bool SharedSteps::are_alike() const {
  return is_like_plain(again_) && is_like_plain(even_) && is_like_plain(odd_);
}

bool SharedSteps::is_like_plain(const SharedCalls& other) const {
  if (other.calls().size() != plain_.calls().size()) return false;
  for (std::size_t i = 0; i < plain_.calls().size(); ++i)
    if (plain_.op(i) != other.op(i)) return false;
  return true;
}

void SharedSteps::read_modules() {
  goes_back_.assign(modules_.size(), never);
  const Recording& again = again_.recording();
  of_call_.assign(plain_.calls().size(), none);
  for (std::size_t i = 0; i < again.calls.size(); ++i) {
    const auto call = static_cast<CallId>(i);
    const auto found = modules_.find(region_of_call(again, call));
    if (found == modules_.end()) continue;
    if (again_.is_again(call))
      goes_back_[found->second] = std::min(goes_back_[found->second], again_.place(call));
    else if (again.calls[i].phase == Phase::forward)
      of_call_[static_cast<std::size_t>(again_.place(call))] = static_cast<int>(found->second);
  }
}

std::vector<Holders> SharedSteps::holders() const {
  std::vector<Holders> found(plain_.recording().storages.size());
  for (std::size_t i = 0; i < plain_.calls().size(); ++i) {
    const CallRecord& call = plain_.call(i);
    if (call.phase != Phase::forward || module_of(i) == none) continue;
    const auto touch = [&](const TensorRecord& tensor) {
      if (tensor.storage == none) return;
      Holders& holders = found[static_cast<std::size_t>(tensor.storage)];
      const StorageRecord& storage =
          plain_.recording().storages[static_cast<std::size_t>(tensor.storage)];
      if (storage.allocated_by == plain_.calls()[i]) holders.maker = module_of(i);
      if (module_of(i) != holders.maker) holders.readers.insert(module_of(i));
    };
    for (const TensorRecord& output : call.outputs) touch(output);
    for (const TensorRecord& input : call.inputs) touch(input);
  }
  return found;
}

}  // namespace symprof::plan
