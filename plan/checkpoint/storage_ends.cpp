#include "plan/checkpoint/storage_ends.h"

#include <algorithm>

#include "record/region_of_call.h"

namespace symprof::plan {
namespace {

/// Recomputed calls of each module, in order.
std::vector<std::vector<CallId>> calls_again(const SharedSteps& steps, const SharedCalls& calls) {
  std::vector<std::vector<CallId>> found(steps.modules().size());
  for (std::size_t i = 0; i < calls.recording().calls.size(); ++i) {
    const auto call = static_cast<CallId>(i);
    if (calls.is_again(call))
      found[steps.modules().at(region_of_call(calls.recording(), call))].push_back(call);
  }
  return found;
}

/// By call of `calls`: the same call of the fully checkpointed step.
std::vector<CallId> same_calls(const SharedSteps& steps, const SharedCalls& calls) {
  std::vector<CallId> same(calls.recording().calls.size(), none);
  for (std::size_t place = 0; place < calls.calls().size(); ++place)
    same[static_cast<std::size_t>(calls.calls()[place])] = steps.again().calls()[place];
  const auto here = calls_again(steps, calls), there = calls_again(steps, steps.again());
  for (std::size_t module = 0; module < here.size(); ++module)
    for (std::size_t i = 0; i < std::min(here[module].size(), there[module].size()); ++i)
      same[static_cast<std::size_t>(here[module][i])] = there[module][i];
  return same;
}

/// By call + 1 (0: before the first call): the storages that it allocates, in order.
std::vector<std::vector<StorageId>> made_by(const Recording& recording) {
  std::vector<std::vector<StorageId>> made(recording.calls.size() + 1);
  for (std::size_t i = 0; i < recording.storages.size(); ++i)
    made[static_cast<std::size_t>(recording.storages[i].allocated_by) + 1].push_back(
        static_cast<StorageId>(i));
  return made;
}

/// By storage of `calls`: the same storage of the fully checkpointed step, or none.
std::vector<StorageId> same_storages(const SharedSteps& steps, const SharedCalls& calls,
                                     const std::vector<CallId>& same) {
  const auto here = made_by(calls.recording()), there = made_by(steps.again().recording());
  std::vector<StorageId> storages(calls.recording().storages.size(), none);
  for (std::size_t i = 0; i < here.size(); ++i) {
    const CallId call = i == 0 ? none : same[i - 1];
    if (i > 0 && call == none) continue;
    const std::vector<StorageId>& others = there[static_cast<std::size_t>(call) + 1];
    for (std::size_t j = 0; j < std::min(here[i].size(), others.size()); ++j)
      storages[static_cast<std::size_t>(here[i][j])] = others[j];
  }
  return storages;
}

}  // namespace

Moments::Moments(const Recording& recording) {
  std::size_t next = 0;
  while (next < recording.events.size() && recording.events[next].call == none) ++next;
  for (std::size_t i = 0; i < recording.calls.size(); ++i) {
    const auto call = static_cast<CallId>(i);
    begin_.push_back(count());
    calls_.push_back(call);
    taken_.push_back(none);
    for (; next < recording.events.size() && recording.events[next].call <= call; ++next) {
      if (recording.events[next].kind != EventKind::allocate) continue;
      calls_.push_back(call);
      taken_.push_back(recording.events[next].storage);
    }
  }
  begin_.push_back(count());
}

Moment Moments::after(CallId call, Moment requests) const {
  const auto at = static_cast<std::size_t>(call);
  return std::min(begin_[at] + requests, begin_[at + 1] - 1);
}

StorageEnds::StorageEnds(const SharedSteps& steps)
    : moments_(steps.again().recording()), ends_(steps.again().recording().storages.size()) {
  for (std::size_t i = 0; i < steps.modules().size(); ++i) sides_.push_back(steps.side(i));
  read(steps, steps.plain(), plain);
  read(steps, steps.again(), again);
  read(steps, steps.even(), even);
  read(steps, steps.odd(), odd);
}

void StorageEnds::read(const SharedSteps& steps, const SharedCalls& calls, Choice choice) {
  const std::vector<CallId> same = same_calls(steps, calls);
  const std::vector<StorageId> storages = same_storages(steps, calls, same);
  for (const StorageId storage : storages)
    if (storage != none) ends_[static_cast<std::size_t>(storage)].by_choice[choice] = never;
  CallId call = none;
  Moment requests = 0;
  for (const MemoryEvent& event : calls.recording().events) {
    if (event.call == none) continue;
    if (event.call != call) requests = 0;
    call = event.call;
    if (event.kind == EventKind::allocate) ++requests;
    const StorageId storage = storages[static_cast<std::size_t>(event.storage)];
    const CallId same_call = same[static_cast<std::size_t>(call)];
    if (event.kind == EventKind::free && storage != none && same_call != none)
      ends_[static_cast<std::size_t>(storage)].by_choice[choice] =
          moments_.after(same_call, requests);
  }
  if (choice == plain) read_holders(steps, storages);
}

void StorageEnds::read_holders(const SharedSteps& steps, const std::vector<StorageId>& storages) {
  const std::vector<Holders> holders = steps.holders();
  for (std::size_t i = 0; i < holders.size(); ++i) {
    if (storages[i] == none) continue;
    std::vector<int>& modules = ends_[static_cast<std::size_t>(storages[i])].modules;
    if (holders[i].maker != none) modules.push_back(holders[i].maker);
    modules.insert(modules.end(), holders[i].readers.begin(), holders[i].readers.end());
  }
}

/// Modules that are not regions are recomputed in one recording only.
bool StorageEnds::runs_again(Choice choice, int module) const {
  if (choice == plain || choice == again) return choice == again;
  return sides_[static_cast<std::size_t>(module)] == (choice == even ? 0 : 1);
}

Moment StorageEnds::end(StorageId storage, const std::vector<bool>& again_by_module) const {
  const Ends& ends = ends_[static_cast<std::size_t>(storage)];
  const auto is_as_in = [&](std::size_t choice, int module) {
    return runs_again(static_cast<Choice>(choice), module) ==
           again_by_module[static_cast<std::size_t>(module)];
  };
  for (std::size_t choice = 0; choice < choices; ++choice)
    if (ends.by_choice[choice] != missing &&
        std::ranges::all_of(ends.modules, [&](int module) { return is_as_in(choice, module); }))
      return ends.by_choice[choice];
  Moment last = missing;
  for (const int module : ends.modules) {
    Moment at_most = never;
    for (std::size_t choice = 0; choice < choices; ++choice)
      if (ends.by_choice[choice] != missing && is_as_in(choice, module))
        at_most = std::min(at_most, ends.by_choice[choice]);
    last = std::max(last, at_most);
  }
  return last;
}

}  // namespace symprof::plan
