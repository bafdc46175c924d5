#include "snapshot/history.h"

#include <unordered_map>

#include "base/checked.h"
#include "snapshot/layout.h"

namespace symprof::snapshot {
namespace {

bool is_reservation(Action action) {
  return action == Action::segment_alloc || action == Action::segment_map;
}
bool is_release(Action action) {
  return action == Action::segment_free || action == Action::segment_unmap;
}

class Replay {
 public:
  Replay(const Snapshot& snapshot, std::size_t device)
      : snapshot_(snapshot), events_(snapshot.traces[device]), layout_(snapshot.settings) {
    history_.device = static_cast<std::int64_t>(device);
    history_.request_of_event.assign(events_.size(), no_request);
  }

  History run() {
    for (EventIndex i = 0; i < events_.size(); ++i) follow(i);
    compare_with_end();
    check_sum();
    go_back_to_start();
    find_sizes();
    walk();
    return std::move(history_);
  }

 private:
  RequestIndex add(const Request& request) {
    history_.requests.push_back(request);
    return static_cast<RequestIndex>(history_.requests.size() - 1);
  }

  void follow(EventIndex index) {
    const Event& event = events_[index];
    if (event.action == Action::alloc)
      begin(index, event);
    else if (event.action == Action::free_requested || event.action == Action::free_completed)
      end(index, event);
  }

  void begin(EventIndex index, const Event& event) {
    const RequestIndex request = add({.address = event.address,
                                      .requested_bytes = event.bytes,
                                      .stream = event.stream,
                                      .begin = index,
                                      .stack = event.stack,
                                      .metadata = event.metadata});
    const auto [at, is_new] = held_.try_emplace(event.address, request);
    if (!is_new) {
      ++history_.contradictions.allocated_twice;
      Request& before = history_.requests[at->second];
      if (before.freed == no_event) before.freed = index;
      if (before.completed == no_event) before.completed = index;
      at->second = request;
    }
    history_.request_of_event[index] = request;
  }

  /// Ends the block at the event's address. A block that is freed but was never allocated was held
  /// before the recording.
  void end(EventIndex index, const Event& event) {
    auto at = held_.find(event.address);
    if (at == held_.end())
      at = held_
               .emplace(event.address, add({.address = event.address,
                                            .requested_bytes = event.bytes,
                                            .stream = event.stream}))
               .first;
    Request& request = history_.requests[at->second];
    history_.request_of_event[index] = at->second;
    if (request.requested_bytes != event.bytes) ++history_.contradictions.other_size;
    if (request.freed == no_event) request.freed = index;
    if (event.action == Action::free_requested) return;
    request.completed = index;
    held_.erase(at);
  }

  /// Sets the sizes of blocks that are in the segments at the end; blocks that no event mentions
  /// were held all the time.
  void compare_with_end() {
    for (const Segment& segment : snapshot_.segments) {
      if (segment.device != history_.device) continue;
      layout_.reserve(segment.address, segment.bytes, segment.is_expandable);
      for (const Block& block : segment.blocks)
        if (block.use != BlockUse::free) compare_with(block, segment.stream);
    }
    history_.contradictions.lost += static_cast<std::int64_t>(held_.size());
  }

  void compare_with(const Block& block, std::int64_t stream) {
    const auto at = held_.find(block.address);
    if (at == held_.end()) {
      add({.address = block.address,
           .requested_bytes = block.requested_bytes,
           .bytes = block.bytes,
           .stream = stream,
           .stack = block.stack});
      return;
    }
    Request& request = history_.requests[at->second];
    request.bytes = block.bytes;
    if (request.stack == 0) request.stack = block.stack;
    if (request.requested_bytes != block.requested_bytes) ++history_.contradictions.other_size;
    held_.erase(at);
  }

  /// No sum of some of the blocks is larger than this one.
  void check_sum() const {
    std::int64_t sum = 0;
    for (const Request& request : history_.requests) {
      add_to(sum, request.requested_bytes);
      add_to(sum, request.bytes);
    }
    for (const Event& event : events_)
      if (is_reservation(event.action) || is_release(event.action)) add_to(sum, event.bytes);
    for (const Segment& segment : snapshot_.segments) add_to(sum, segment.bytes);
  }

  void go_back_to_start() {
    for (const Segment& segment : snapshot_.segments)
      if (segment.device == history_.device) history_.end.reserved += segment.bytes;
    history_.start.reserved = history_.end.reserved;
    for (std::size_t i = events_.size(); i-- > 0;) {
      const Event& event = events_[i];
      history_.start.reserved -= reserved_change(event);
      if (is_reservation(event.action))
        layout_.release(event.address, event.bytes);
      else if (is_release(event.action))
        layout_.reserve(event.address, event.bytes, event.action == Action::segment_unmap);
    }
  }

  void find_size(Request& request) {
    if (request.bytes == 0) {
      request.bytes = layout_.block_size(request.address, request.requested_bytes);
      if (request.begin == no_event) ++history_.inferred_sizes;
    }
  }

  /// From the start on, with each block at its place.
  void find_sizes() {
    for (Request& request : history_.requests)
      if (request.begin == no_event)
        layout_.hold(request.address, std::max(request.bytes, request.requested_bytes));
    for (Request& request : history_.requests) {
      if (request.begin != no_event) continue;
      find_size(request);
      layout_.hold(request.address, request.bytes);
    }
    for (EventIndex i = 0; i < events_.size(); ++i) find_sizes_at(i);
    check_sum();
  }

  void find_sizes_at(EventIndex index) {
    const Event& event = events_[index];
    if (is_reservation(event.action))
      layout_.reserve(event.address, event.bytes, event.action == Action::segment_map);
    else if (is_release(event.action))
      layout_.release(event.address, event.bytes);
    const RequestIndex at = history_.request_of_event[index];
    if (at == no_request) return;
    Request& request = history_.requests[at];
    if (request.begin == index) {
      find_size(request);
      layout_.hold(request.address, request.bytes);
    } else if (request.completed == index) {
      layout_.give_back(request.address);
    }
  }

  void walk() {
    Usage& start = history_.start;
    for (const Request& request : history_.requests) {
      if (request.begin != no_event) continue;
      start.requested += request.requested_bytes;
      start.active += request.bytes;
      start.allocated += request.bytes;
    }
    history_.requested.bytes = start.requested;
    history_.allocated.bytes = start.allocated;
    history_.active.bytes = start.active;
    history_.reserved.bytes = start.reserved;
    UsageWalk walk(snapshot_, history_);
    while (walk.next()) {
      const Usage& usage = walk.usage();
      raise(history_.requested, usage.requested, walk.event());
      raise(history_.allocated, usage.allocated, walk.event());
      raise(history_.active, usage.active, walk.event());
      raise(history_.reserved, usage.reserved, walk.event());
    }
    const std::int64_t reserved = history_.end.reserved;
    history_.end = walk.usage();
    history_.end.reserved = reserved;
  }
  static void raise(Peak& peak, std::int64_t bytes, EventIndex event) {
    if (bytes > peak.bytes) peak = {bytes, event};
  }

  const Snapshot& snapshot_;
  const std::vector<Event>& events_;
  Layout layout_;
  History history_;
  std::unordered_map<std::int64_t, RequestIndex> held_;
};

}  // namespace

std::int64_t reserved_change(const Event& event) {
  if (is_reservation(event.action)) return event.bytes;
  return is_release(event.action) ? -event.bytes : 0;
}

bool UsageWalk::next() {
  if (next_ >= events_.size()) return false;
  const EventIndex index = next_++;
  const Event& event = events_[index];
  usage_.reserved += reserved_change(event);
  const RequestIndex at = history_.request_of_event[index];
  if (at == no_request) return true;
  const Request& request = history_.requests[at];
  if (request.begin == index) {
    usage_.requested += request.requested_bytes;
    usage_.active += request.bytes;
    usage_.allocated += request.bytes;
  }
  if (request.freed == index) usage_.allocated -= request.bytes;
  if (request.completed == index) {
    usage_.requested -= request.requested_bytes;
    usage_.active -= request.bytes;
  }
  return true;
}

History replay(const Snapshot& snapshot, std::size_t device) {
  return Replay(snapshot, device).run();
}

}  // namespace symprof::snapshot
