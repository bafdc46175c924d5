#include "plan/checkpoint/shared_calls.h"

#include <algorithm>

#include "profile/memory/device_block.h"
#include "record/region_of_call.h"

namespace symprof::plan {

Span Span::within(const Span& other) const {
  return {std::max(first, other.first), std::min(last, other.last)};
}

SharedCalls::SharedCalls(const Recording& recording,
                         const std::map<std::string, std::size_t>& regions)
    : recording_(recording) {
  is_again_.reserve(recording.calls.size());
  place_.reserve(recording.calls.size());
  for (std::size_t i = 0; i < recording.calls.size(); ++i) {
    const bool is_again = recording.calls[i].phase == Phase::recompute &&
                          regions.contains(region_of_call(recording, static_cast<CallId>(i)));
    is_again_.push_back(is_again);
    place_.push_back(static_cast<int>(calls_.size()));
    if (!is_again) calls_.push_back(static_cast<CallId>(i));
  }
  read_spans();
}

std::int64_t SharedCalls::bytes(StorageId storage) const {
  return profile::device_block_bytes(recording_.storages[static_cast<std::size_t>(storage)]);
}

std::vector<std::vector<StorageId>> SharedCalls::made() const {
  std::vector<std::vector<StorageId>> made(calls_.size());
  for (std::size_t i = 0; i < recording_.storages.size(); ++i) {
    const CallId by = recording_.storages[i].allocated_by;
    if (by != none && !is_again(by))
      made[static_cast<std::size_t>(place(by))].push_back(static_cast<StorageId>(i));
  }
  return made;
}

void SharedCalls::read_spans() {
  spans_.resize(recording_.storages.size());
  for (std::size_t i = 0; i < spans_.size(); ++i) {
    const CallId by = recording_.storages[i].allocated_by;
    spans_[i] = {by == none ? -1 : place(by), never};
  }
  for (const MemoryEvent& event : recording_.events) {
    if (event.kind != EventKind::free) continue;
    // Freed during recomputation: the storage was alive during the previous shared call.
    const int last = event.call == none ? -1 : place(event.call) - (is_again(event.call) ? 1 : 0);
    spans_[static_cast<std::size_t>(event.storage)].last = last;
  }
}

}  // namespace symprof::plan
