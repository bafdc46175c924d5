#include "profile/memory/pool_bytes.h"

#include <algorithm>
#include <limits>

namespace symprof::profile {
namespace {

/// Follows the allocator; calls of a later step or micro-batch take the place of earlier ones.
class PoolReader {
 public:
  PoolReader(std::size_t calls, const AllocatorSettings& settings)
      : settings_(settings), by_call_(calls) {}

  void see(const AllocatorEvent& event, CallId call) {
    go_to(call);
    if (event.action == AllocatorAction::alloc)
      change(rounded_size(event.bytes, settings_), 1);
    else if (event.action == AllocatorAction::free)
      change(rounded_size(event.bytes, settings_), -1);
  }

  std::vector<PoolBytes> by_call() && {
    go_to(static_cast<CallId>(by_call_.size()));
    return std::move(by_call_);
  }

 private:
  /// Calls on the way hold what is there now; before its first call, a step has none.
  void go_to(CallId call) {
    if (call == call_) return;
    if (call < call_) {
      go_to(static_cast<CallId>(by_call_.size()));
      call_ = none;
      if (call == none) return;
    }
    for (++call_; call_ < call; ++call_) by_call_[static_cast<std::size_t>(call_)] = now_;
    if (static_cast<std::size_t>(call_) < by_call_.size())
      by_call_[static_cast<std::size_t>(call_)] = now_;
  }

  void change(std::int64_t bytes, int sign) {
    (bytes <= small_limit_bytes ? now_.small : now_.large) += sign * bytes;
    now_.all += sign * bytes;
    if (call_ < 0 || static_cast<std::size_t>(call_) >= by_call_.size()) return;
    PoolBytes& most = by_call_[static_cast<std::size_t>(call_)];
    most = {std::max(most.small, now_.small), std::max(most.large, now_.large),
            std::max(most.all, now_.all)};
  }

  const AllocatorSettings& settings_;
  std::vector<PoolBytes> by_call_;
  PoolBytes now_;
  CallId call_ = none;
};

}  // namespace

std::vector<PoolBytes> pool_bytes_by_call(const Recording& recording, const DeviceSpec& device,
                                          LoopOptions loop) {
  loop.allocator.expandable_segments = true;
  loop.allocator.roundup_power2_divisions = {};
  PoolReader reader(recording.calls.size(), loop.allocator);
  simulate_step_memory(recording, device,
                       {.loop = loop, .observer = [&](const AllocatorEvent& event, CallId call) {
                          reader.see(event, call);
                        }});
  return std::move(reader).by_call();
}

bool segments_stay(const AllocatorSettings& settings) {
  return settings.garbage_collection_threshold == 0 &&
         settings.max_split_size_bytes == std::numeric_limits<std::int64_t>::max();
}

}  // namespace symprof::profile
