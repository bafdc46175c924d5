#include "profile/memory/pool_bytes.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "profile/memory/step_memory.h"

namespace symprof::profile {
namespace {

/// Follows the allocator; calls of a later step or micro-batch overwrite earlier ones.
class PoolReader {
 public:
  PoolReader(std::size_t calls, const AllocatorSettings& settings)
      : settings_(settings), by_call_(calls) {}
  /// Blocks of the model are persistent: `are_of_model` marks them among the first blocks.
  PoolReader(std::size_t calls, const AllocatorSettings& settings, const PoolWeights& weights,
             std::vector<bool> are_of_model)
      : settings_(settings),
        weights_(&weights),
        are_of_model_(std::move(are_of_model)),
        by_call_(calls) {
    now_.small = weights.small.of_model;
    now_.large = weights.large.of_model;
  }

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
  /// Skipped calls hold the current blocks; before its first call, a step has none.
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
    now_.all += sign * bytes;
    if (bytes <= small_limit_bytes)
      now_.small += sign * weight(bytes, weights_ ? &weights_->small : nullptr);
    else
      now_.large += sign * weight(bytes, weights_ ? &weights_->large : nullptr);
    ++changes_;
    if (call_ < 0 || static_cast<std::size_t>(call_) >= by_call_.size()) return;
    PoolBytes& most = by_call_[static_cast<std::size_t>(call_)];
    most = {std::max(most.small, now_.small), std::max(most.large, now_.large),
            std::max(most.all, now_.all)};
  }

  std::int64_t weight(std::int64_t bytes, const SegmentWeights* weights) const {
    if (changes_ < are_of_model_.size() && are_of_model_[changes_]) return 0;
    return weights ? weights->of(bytes) : bytes;
  }

  const AllocatorSettings& settings_;
  const PoolWeights* weights_ = nullptr;
  std::vector<bool> are_of_model_;
  std::size_t changes_ = 0;
  std::vector<PoolBytes> by_call_;
  PoolBytes now_;
  CallId call_ = none;
};

/// By storage allocated before the loop: true for the model's.
std::vector<bool> are_of_model(const Recording& recording) {
  std::vector<bool> are;
  for (const StorageId id : storages_before_loop(recording))
    are.push_back(is_of_model(recording.storages[static_cast<std::size_t>(id)]));
  return are;
}

std::vector<PoolBytes> read(const Recording& recording, const DeviceSpec& device, LoopOptions loop,
                            const PoolWeights* weights) {
  loop.allocator.expandable_segments = true;
  loop.allocator.roundup_power2_divisions = {};
  PoolReader reader = weights ? PoolReader(recording.calls.size(), loop.allocator, *weights,
                                           are_of_model(recording))
                              : PoolReader(recording.calls.size(), loop.allocator);
  simulate_step_memory(recording, device,
                       {.loop = loop, .observer = [&](const AllocatorEvent& event, CallId call) {
                          reader.see(event, call);
                        }});
  return std::move(reader).by_call();
}

}  // namespace

std::vector<PoolBytes> pool_bytes_by_call(const Recording& recording, const DeviceSpec& device,
                                          LoopOptions loop) {
  return read(recording, device, std::move(loop), nullptr);
}

std::vector<PoolBytes> pool_weights_by_call(const Recording& recording, const DeviceSpec& device,
                                            LoopOptions loop, const PoolWeights& weights) {
  return read(recording, device, std::move(loop), &weights);
}

bool segments_stay(const AllocatorSettings& settings) {
  return settings.garbage_collection_threshold == 0 &&
         settings.max_split_size_bytes == std::numeric_limits<std::int64_t>::max();
}

}  // namespace symprof::profile
