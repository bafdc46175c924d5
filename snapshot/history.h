// Replays a snapshot's events: lifetimes of blocks, and peaks.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "snapshot/snapshot.h"

namespace symprof::snapshot {

/// An index into the events of a device.
using EventIndex = std::uint32_t;
using RequestIndex = std::uint32_t;
/// No event: before the first, or never.
constexpr std::uint32_t no_event = std::numeric_limits<std::uint32_t>::max();
constexpr RequestIndex no_request = std::numeric_limits<std::uint32_t>::max();

/// A block from its allocation until it is free again.
struct Request {
  std::int64_t address = 0, requested_bytes = 0;
  std::int64_t bytes = 0;  ///< Size of the block, which may exceed the request.
  std::int64_t stream = 0;
  EventIndex begin = no_event;      ///< None: before the recording.
  EventIndex freed = no_event;      ///< When the program freed it; none: held at the end.
  EventIndex completed = no_event;  ///< When no other stream used it any more.
  StackId stack = 0;
  TextId metadata = 0;

  /// Whether the program holds it after `event`; for none, at the start.
  bool is_held_at(EventIndex event) const {
    if (event == no_event) return begin == no_event;
    return (begin == no_event || begin <= event) && (freed == no_event || freed > event);
  }
};

/// PyTorch's own counters: `torch.cuda.memory_stats`.
struct Usage {
  std::int64_t requested = 0, allocated = 0, active = 0, reserved = 0;
};

struct Peak {
  std::int64_t bytes = 0;
  EventIndex event = no_event;  ///< The event that reached it; none: it was reached at the start.
};

/// Events that contradict earlier ones, or the segments at the end.
struct Contradictions {
  std::int64_t allocated_twice = 0;  ///< A block is allocated at an address that is in use.
  /// Blocks held according to the events, but not according to the segments.
  std::int64_t lost = 0;
  /// Blocks freed, or held at the end, with another size than at their allocation.
  std::int64_t other_size = 0;

  std::int64_t all() const { return allocated_twice + lost + other_size; }
};

struct History {
  std::int64_t device = 0;
  std::vector<Request> requests;
  std::vector<RequestIndex> request_of_event;
  Usage start, end;
  Peak requested, allocated, active, reserved;
  /// Blocks allocated before the recording and freed during it: their size is inferred from the
  /// allocator's rules. The size of all other blocks is in the snapshot or follows from their
  /// addresses.
  std::int64_t inferred_sizes = 0;
  Contradictions contradictions;
};

/// Replays the events of one device. Throws Error if the sizes of all blocks do not fit into 64
/// bits.
History replay(const Snapshot& snapshot, std::size_t device);

/// The change of reserved memory by `event`; 0 unless the event allocates or frees a segment.
std::int64_t reserved_change(const Event& event);

/// The usage after each event, one event after the other.
class UsageWalk {
 public:
  UsageWalk(const Snapshot& snapshot, const History& history)
      : events_(snapshot.traces[static_cast<std::size_t>(history.device)]),
        history_(history),
        usage_(history.start) {}

  /// Advances to the next event; false at the end.
  bool next();
  EventIndex event() const { return next_ - 1; }
  const Usage& usage() const { return usage_; }

 private:
  const std::vector<Event>& events_;
  const History& history_;
  Usage usage_;
  EventIndex next_ = 0;
};

}  // namespace symprof::snapshot
