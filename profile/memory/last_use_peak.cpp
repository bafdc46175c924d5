#include "profile/memory/last_use_peak.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "profile/memory/device_block.h"

namespace symprof::profile {
namespace {

class LastUseReplay {
 public:
  explicit LastUseReplay(const Recording& recording) : recording_(recording) { find_last_uses(); }

  PeakWithLastUses run() {
    PeakWithLastUses peaks;
    std::int64_t live = bytes_before(), early = live;
    for (const MemoryEvent& event : recording_.events) {
      early -= freed_before(event);
      const std::int64_t bytes = bytes_of(event.storage);
      if (event.kind == EventKind::allocate) {
        peaks.found = std::max(peaks.found, live += bytes);
        peaks.at_last_uses = std::max(peaks.at_last_uses, early += bytes);
      } else {
        live -= bytes;
        if (!is_freed_in_forward(event)) early -= bytes;
      }
    }
    return peaks;
  }

 private:
  bool is_in_forward(CallId call) const {
    return call != none && recording_.calls[static_cast<std::size_t>(call)].phase == Phase::forward;
  }

  bool is_freed_in_forward(const MemoryEvent& event) const {
    return event.kind != EventKind::allocate && is_in_forward(event.call);
  }

  std::int64_t bytes_of(StorageId id) const {
    return device_block_bytes(recording_.storages[static_cast<std::size_t>(id)]);
  }

  /// Bytes allocated before the step.
  std::int64_t bytes_before() const {
    std::vector<bool> is_made(recording_.storages.size());
    for (const MemoryEvent& event : recording_.events)
      if (event.kind == EventKind::allocate)
        is_made[static_cast<std::size_t>(event.storage)] = true;
    std::int64_t bytes = 0;
    for (std::size_t i = 0; i < is_made.size(); ++i)
      if (!is_made[i]) bytes += bytes_of(static_cast<StorageId>(i));
    return bytes;
  }

  void find_last_uses() {
    std::vector<CallId> last(recording_.storages.size(), none);
    for (std::size_t i = 0; i < recording_.calls.size(); ++i) {
      if (!is_in_forward(static_cast<CallId>(i))) continue;
      for (const auto* tensors : {&recording_.calls[i].inputs, &recording_.calls[i].outputs})
        for (const TensorRecord& tensor : *tensors)
          if (tensor.storage != none)
            last[static_cast<std::size_t>(tensor.storage)] = static_cast<CallId>(i);
    }
    for (const MemoryEvent& event : recording_.events)
      if (is_freed_in_forward(event)) {
        const CallId use = last[static_cast<std::size_t>(event.storage)];
        ends_.emplace_back(use == none ? event.call : std::min(use, event.call), event.storage);
      }
    std::ranges::stable_sort(ends_, {}, &std::pair<CallId, StorageId>::first);
  }

  /// Bytes that no call needs from the event's call on; after the forward pass, all of them.
  std::int64_t freed_before(const MemoryEvent& event) {
    std::int64_t bytes = 0;
    const bool is_before_all = event.call == none && next_ == 0;
    while (!is_before_all && next_ < ends_.size() &&
           (!is_in_forward(event.call) || ends_[next_].first < event.call))
      bytes += bytes_of(ends_[next_++].second);
    return bytes;
  }

  const Recording& recording_;
  std::vector<std::pair<CallId, StorageId>> ends_;  // In order of calls.
  std::size_t next_ = 0;                            // Of `ends_`.
};

}  // namespace

PeakWithLastUses peak_with_last_uses(const Recording& recording) {
  return LastUseReplay(recording).run();
}

}  // namespace symprof::profile
