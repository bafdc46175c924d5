#include "profile/memory/peak_uncertainty.h"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <queue>
#include <vector>

#include "base/rounding.h"
#include "profile/memory/device_block.h"

namespace symprof::profile {
namespace {

constexpr std::size_t uncertainties = 6;  // Values of LifetimeUncertainty.

/// Two unregistered tensors of a module, one block each, are 5 % of such a small inference. Files
/// do not contain them, and in this case constructors were not searched for them.
constexpr std::int64_t unread_bytes = 2 * smallest_block_bytes, small_step = 20 * unread_bytes;

/// Smaller parts of the peak are ignored: exporters add their own nodes, without source lines.
constexpr std::int64_t worth_a_word = 200;

class UncertaintyReplay {
 public:
  explicit UncertaintyReplay(const Recording& recording) : recording_(recording) {
    std::vector<bool> is_made(recording.storages.size());
    for (const MemoryEvent& event : recording.events)
      if (event.kind == EventKind::allocate)
        is_made[static_cast<std::size_t>(event.storage)] = true;
    for (std::size_t i = 0; i < is_made.size(); ++i)
      if (!is_made[i]) live_ += bytes_of(static_cast<StorageId>(i));
    least_peak_ = most_peak_ = open_peak_ = live_;
  }

  PeakUncertainty run() {
    for (const MemoryEvent& event : recording_.events) apply(event);
    PeakUncertainty found{.peak_bytes = least_peak_, .trains = trains_};
    const bool is_unread = may_lack_tensors();
    std::int64_t unregistered = is_unread ? unread_bytes : 0;
    for (const std::int64_t bytes : recording_.unregistered_bytes)
      unregistered += round_up(bytes, smallest_block_bytes);
    const std::int64_t longer = most_peak_ - least_peak_;
    if (longer + unregistered > least_peak_ / worth_a_word) {
      found.bytes = longer + unregistered;
      const LifetimeUncertainty uncertainty =
          is_unread ? LifetimeUncertainty::unread : LifetimeUncertainty::unregistered;
      held_at_peak_[static_cast<std::size_t>(uncertainty)] = unregistered;
      const auto largest = std::ranges::max_element(held_at_peak_);
      found.because = static_cast<LifetimeUncertainty>(largest - held_at_peak_.begin());
      found.most_bytes = std::max(most_peak_, open_peak_) - least_peak_ + unregistered;
    }
    return found;
  }

 private:
  /// True if the model comes from a file and its constructors were not read
  /// (Graph::unregistered_bytes).
  bool may_lack_tensors() const {
    return recording_.traits.may_lack_attributes && !trains_ &&
           recording_.unregistered_bytes.empty() && least_peak_ < small_step;
  }

  struct Held {
    NodeId until = none;
    StorageId storage = none;
    bool operator>(const Held& other) const { return until > other.until; }
  };

  std::int64_t bytes_of(StorageId id) const {
    return device_block_bytes(recording_.storages[static_cast<std::size_t>(id)]);
  }

  std::int64_t& held_for(StorageId id) {
    return held_[static_cast<std::size_t>(
        recording_.storages[static_cast<std::size_t>(id)].uncertainty)];
  }

  void apply(const MemoryEvent& event) {
    const std::int64_t bytes = bytes_of(event.storage);
    const CallRecord* call =
        event.call == none ? nullptr : &recording_.calls[static_cast<std::size_t>(event.call)];
    const bool is_forward = call == nullptr || call->phase == Phase::forward;
    if (call != nullptr) let_go(is_forward ? call->node : most_node);
    trains_ |= call != nullptr && is_in_backward(call->phase);
    if (event.kind == EventKind::allocate) {
      live_ += bytes;
      least_peak_ = std::max(least_peak_, live_);
      open_peak_ = std::max(open_peak_, live_ + open_);
      if (live_ + extra_ > most_peak_) {
        most_peak_ = live_ + extra_;
        held_at_peak_ = held_;
      }
      return;
    }
    live_ -= bytes;
    const StorageRecord& storage = recording_.storages[static_cast<std::size_t>(event.storage)];
    if (storage.end_is_open) open_ += bytes;
    const NodeId until = storage.may_live_until;
    if (until == none || !is_forward || (call != nullptr && until < call->node)) return;
    extra_ += bytes;
    held_for(event.storage) += bytes;
    late_.push({until, event.storage});
  }

  void let_go(NodeId reached) {
    while (!late_.empty() && late_.top().until < reached) {
      const std::int64_t bytes = bytes_of(late_.top().storage);
      extra_ -= bytes;
      held_for(late_.top().storage) -= bytes;
      late_.pop();
    }
  }

  static constexpr NodeId most_node = std::numeric_limits<NodeId>::max();

  const Recording& recording_;
  std::priority_queue<Held, std::vector<Held>, std::greater<>> late_;
  std::array<std::int64_t, uncertainties> held_{}, held_at_peak_{};
  std::int64_t live_ = 0, least_peak_ = 0;
  std::int64_t extra_ = 0, most_peak_ = 0;  // Bytes that may be held, and the peak with them.
  std::int64_t open_ = 0, open_peak_ = 0;   // Bytes with open lifetimes, and the peak with them.
  bool trains_ = false;
};

}  // namespace

PeakUncertainty peak_uncertainty(const Recording& recording) {
  return UncertaintyReplay(recording).run();
}

}  // namespace symprof::profile
