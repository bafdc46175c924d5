// Replays the recording's allocations and frees.
#include "profile/node_bytes.h"

#include "base/checked.h"

namespace symprof::profile {
namespace {

/// The caching allocator hands out multiples of 512 bytes (kMinBlockSize in
/// c10/cuda/CUDACachingAllocator.cpp).
constexpr std::int64_t block_bytes = 512;

std::int64_t rounded(const StorageRecord& storage) {
  if (!storage.on_device) return 0;
  return (Count(storage.bytes) + (block_bytes - 1)).value() / block_bytes * block_bytes;
}

/// True for optimizer states in a rank's step, which is one of a loop. A program's first step
/// allocates them itself.
bool is_state(const Recording& recording, const MemoryEvent& event) {
  return recording.rank && recording.storages[event.storage].kind == StorageKind::optimizer_state;
}

/// Bytes before the step: storages without an allocation event, and optimizer states, which the
/// first step allocates.
std::int64_t bytes_before(const Recording& recording) {
  std::vector<bool> allocated(recording.storages.size());
  for (const MemoryEvent& event : recording.events)
    if (event.kind == EventKind::allocate && !is_state(recording, event))
      allocated[event.storage] = true;
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < recording.storages.size(); ++i)
    if (!allocated[i]) add_to(bytes, rounded(recording.storages[i]));
  return bytes;
}

/// The state of the replay.
class Replay {
 public:
  explicit Replay(Profile& profile)
      : profile_(profile), allocated_(bytes_before(profile.recording)) {
    profile_.totals.tensor_peak.bytes = allocated_;
  }

  void apply(const MemoryEvent& event) {
    call_ = event.call;
    const std::int64_t bytes = rounded(profile_.recording.storages[event.storage]);
    add_to(allocated_, event.kind == EventKind::allocate ? bytes : -bytes);
    if (allocated_ > profile_.totals.tensor_peak.bytes) set_peak();
  }

 private:
  void set_peak() {
    TensorPeak& peak = profile_.totals.tensor_peak;
    peak.bytes = allocated_;
    if (call_ == none) return;
    peak.phase = profile_.recording.calls[call_].phase;
    peak.node = profile_.recording.calls[call_].node;
  }

  Profile& profile_;
  CallId call_ = none;
  std::int64_t allocated_;
};

}  // namespace

void find_tensor_peak(Profile& profile) {
  Replay replay(profile);
  for (const MemoryEvent& event : profile.recording.events)
    if (!is_state(profile.recording, event)) replay.apply(event);
}

}  // namespace symprof::profile
