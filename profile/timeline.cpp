// Replays the recording's allocations and frees.
#include "profile/memory.h"

#include "profile/checked.h"

namespace symprof::profile {
namespace {

/// The caching allocator hands out multiples of 512 bytes (kMinBlockSize in
/// c10/cuda/CUDACachingAllocator.cpp).
constexpr std::int64_t block_bytes = 512;

std::int64_t rounded(const StorageRecord& storage) {
  if (!storage.on_device) return 0;
  return (Count(storage.bytes) + (block_bytes - 1)).value() / block_bytes * block_bytes;
}

/// Storages without an allocation of their own were there before the step.
std::int64_t bytes_before(const Recording& recording) {
  std::vector<bool> allocated(recording.storages.size());
  for (const MemoryEvent& event : recording.events)
    if (event.kind == EventKind::allocate) allocated[event.storage] = true;
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < recording.storages.size(); ++i)
    if (!allocated[i]) add_to(bytes, rounded(recording.storages[i]));
  return bytes;
}

/// The state of the replay.
class Replay {
 public:
  explicit Replay(Profile& profile)
      : profile_(profile), allocated_(bytes_before(profile.recording)), reported_(allocated_) {
    profile_.totals.peak_allocated_bytes = allocated_;
  }

  void apply(const MemoryEvent& event) {
    if (event.call != call_) end_call();
    call_ = event.call;
    const std::int64_t bytes = rounded(profile_.recording.storages[event.storage]);
    add_to(allocated_, event.kind == EventKind::allocate ? bytes : -bytes);
    if (allocated_ > profile_.totals.peak_allocated_bytes) set_peak();
  }

  /// Notes what the call that ended has changed. Before the first call there is no point.
  void end_call() {
    if (call_ != none && allocated_ != reported_) profile_.timeline.push_back({call_, allocated_});
    if (call_ != none) reported_ = allocated_;
  }

 private:
  void set_peak() {
    Totals& totals = profile_.totals;
    totals.peak_allocated_bytes = allocated_;
    if (call_ == none) return;
    totals.peak_phase = profile_.recording.calls[call_].phase;
    totals.peak_node = profile_.recording.calls[call_].node;
  }

  Profile& profile_;
  CallId call_ = none;
  std::int64_t allocated_;
  std::int64_t reported_;  ///< Allocated bytes at the last point.
};

}  // namespace

void replay_allocations(Profile& profile) {
  Replay replay(profile);
  for (const MemoryEvent& event : profile.recording.events) replay.apply(event);
  replay.end_call();
}

}  // namespace symprof::profile
