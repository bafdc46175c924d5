#include "snapshot/analysis.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

namespace symprof::snapshot {
namespace {

/// Sums by site; the largest first.
class Shares {
 public:
  explicit Shares(std::size_t sites) : shares_(sites) {}
  void add(std::uint32_t site, std::int64_t bytes) {
    shares_[site].bytes += bytes;
    ++shares_[site].blocks;
  }
  std::vector<Share> sorted() && {
    for (std::uint32_t i = 0; i < shares_.size(); ++i) shares_[i].site = i;
    std::erase_if(shares_, [](const Share& share) { return share.blocks == 0; });
    std::ranges::stable_sort(shares_, std::ranges::greater(), &Share::bytes);
    return std::move(shares_);
  }

 private:
  std::vector<Share> shares_;
};

std::vector<Share> never_freed(const History& history, const Sites& sites) {
  Shares shares(sites.line_count());
  for (const Request& request : history.requests)
    if (request.begin != no_event && request.freed == no_event)
      shares.add(sites.line_of(request), request.bytes);
  return std::move(shares).sorted();
}

void add_blocks(PoolUse& use, const Segment& segment) {
  ++use.segments;
  use.bytes += segment.bytes;
  for (const Block& block : segment.blocks)
    if (block.use == BlockUse::free)
      use.largest_free = std::max(use.largest_free, block.bytes);
    else
      use.allocated += block.bytes;
}

std::vector<PoolUse> pools_of(const Snapshot& snapshot, std::int64_t device) {
  std::map<std::tuple<PoolId, std::int64_t, bool, bool>, PoolUse> pools;
  for (const Segment& segment : snapshot.segments) {
    if (segment.device != device) continue;
    PoolUse& use = pools[{segment.pool, segment.stream, segment.is_small, segment.is_expandable}];
    use.pool = segment.pool;
    use.stream = segment.stream;
    use.is_small = segment.is_small;
    use.is_expandable = segment.is_expandable;
    add_blocks(use, segment);
  }
  std::vector<PoolUse> found;
  found.reserve(pools.size());
  for (const auto& [key, use] : pools) found.push_back(use);
  std::ranges::stable_sort(found, std::ranges::greater(), &PoolUse::bytes);
  return found;
}

/// Looks at what happens between a growth of a pool and the request that it was for.
class GrowthWalk {
 public:
  GrowthWalk(const Snapshot& snapshot, const History& history, const Sites& sites)
      : events_(snapshot.traces[static_cast<std::size_t>(history.device)]),
        history_(history),
        sites_(sites),
        walk_(snapshot, history) {}

  void run(DeviceAnswer& answer) {
    Usage before = history_.start;
    for (; walk_.next(); before = walk_.usage()) {
      const Event& event = events_[walk_.event()];
      if (const std::int64_t growth = reserved_change(event); growth > 0) {
        if (grown_ == 0) free_before_ = before.reserved - before.active;
        grown_ += growth;
      } else if (event.action == Action::alloc && grown_ > 0) {
        add(history_.requests[history_.request_of_event[walk_.event()]]);
      } else if (event.action == Action::oom) {
        grown_ = 0;
        answer.out_of_memory.push_back(
            {walk_.event(), event.bytes, event.address, before, sites_.line_of(event.stack)});
      }
      find_moment(answer.fragmentation);
    }
    for (const auto& [line, growth] : growth_) answer.fragmentation.growth.push_back(growth);
    std::ranges::stable_sort(answer.fragmentation.growth, std::ranges::greater(),
                             &PoolGrowth::bytes);
  }

 private:
  void add(const Request& request) {
    PoolGrowth& growth = growth_[sites_.line_of(request)];
    growth.line = sites_.line_of(request);
    growth.bytes += grown_;
    ++growth.requests;
    if (free_before_ >= request.bytes) {
      growth.bytes_beside_free += grown_;
      ++growth.requests_beside_free;
    }
    grown_ = 0;
  }

  /// Finds the moment with the most allocated bytes among those at the peak of reserved bytes:
  /// memory that is free then is fragmented.
  void find_moment(Fragmentation& fragmentation) const {
    const Usage& usage = walk_.usage();
    if (usage.reserved != history_.reserved.bytes) return;
    if (fragmentation.event != no_event && usage.allocated <= fragmentation.allocated) return;
    fragmentation.event = walk_.event();
    fragmentation.reserved = usage.reserved;
    fragmentation.allocated = usage.allocated;
  }

  const std::vector<Event>& events_;
  const History& history_;
  const Sites& sites_;
  UsageWalk walk_;
  std::map<LineId, PoolGrowth> growth_;
  std::int64_t grown_ = 0, free_before_ = 0;
};

}  // namespace

std::size_t busiest_device(const Snapshot& snapshot) {
  std::vector<std::pair<std::size_t, std::int64_t>> use(
      std::max<std::size_t>(snapshot.traces.size(), 1));
  for (std::size_t i = 0; i < snapshot.traces.size(); ++i) use[i].first = snapshot.traces[i].size();
  for (const Segment& segment : snapshot.segments)
    if (segment.device >= 0 && static_cast<std::size_t>(segment.device) < use.size())
      use[static_cast<std::size_t>(segment.device)].second +=
          static_cast<std::int64_t>(segment.blocks.size());
  return static_cast<std::size_t>(std::ranges::max_element(use) - use.begin());
}

std::vector<Share> lines_at(const History& history, const Sites& sites, EventIndex event) {
  Shares shares(sites.line_count());
  for (const Request& request : history.requests)
    if (request.is_held_at(event)) shares.add(sites.line_of(request), request.bytes);
  return std::move(shares).sorted();
}

std::vector<Share> modules_at(const History& history, const Sites& sites, EventIndex event) {
  Shares shares(sites.module_count());
  for (const Request& request : history.requests)
    if (request.is_held_at(event)) shares.add(sites.module_of(request), request.bytes);
  return std::move(shares).sorted();
}

DeviceAnswer analyze(const Snapshot& snapshot, const Sites& sites, std::size_t device) {
  DeviceAnswer answer;
  answer.history = replay(snapshot, device);
  const History& history = answer.history;
  answer.lines_at_peak = lines_at(history, sites, history.allocated.event);
  answer.modules_at_peak = modules_at(history, sites, history.allocated.event);
  answer.never_freed = never_freed(history, sites);
  answer.pools = pools_of(snapshot, history.device);
  answer.fragmentation = {no_event, history.start.reserved, history.start.allocated, {}};
  GrowthWalk(snapshot, history, sites).run(answer);
  answer.steps = find_steps(snapshot, history, sites);
  return answer;
}

}  // namespace symprof::snapshot
