#include "plan/checkpoint/frontier.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace symprof::plan {
namespace {

/// The frontier is thinned to these sizes: labels while it grows, patterns when it is complete.
constexpr std::size_t most_labels = 4000, most_patterns = 160;

/// A set of kept calls: a previous set plus one call.
struct KeptSet {
  std::int64_t bytes = 0;
  double saved_us = 0;
  int before = -1, call = -1;  // Index of the previous set, and the added call.
};

/// Evenly spaced elements, both ends included.
template <class T>
std::vector<T> thinned(const std::vector<T>& all, std::size_t most) {
  std::vector<T> some;
  some.reserve(most);
  for (std::size_t i = 0; i < most; ++i) some.push_back(all[i * (all.size() - 1) / (most - 1)]);
  return some;
}

class SetBuilder {
 public:
  explicit SetBuilder(const RegionCosts& region) : region_(region) {
    sets_.push_back({});
    front_.push_back(0);
    for (std::size_t i = 0; i < region.calls.size(); ++i) add(static_cast<int>(i));
  }

  Frontier frontier() {
    Frontier found;
    if (front_.size() > most_patterns) front_ = thinned(front_, most_patterns);
    found.patterns.push_back({});
    for (std::size_t i = front_.size(); i-- > 0;) add_pattern(found, front_[i]);
    // A call whose output costs no bytes because the next region keeps it may cost bytes if that
    // region is not recomputed.
    if (sets_[front_.front()].call >= 0) add_pattern(found, 0);
    return found;
  }

 private:
  /// Merges the sets with the call and those without it, and drops dominated ones.
  void add(int call) {
    const KeepableCall& kept = region_.calls[static_cast<std::size_t>(call)];
    std::vector<std::size_t> with;
    with.reserve(front_.size());
    for (const std::size_t at : front_) {
      const KeptSet& set = sets_[at];
      if (set.bytes + kept.bytes > region_.freed_bytes) break;
      with.push_back(sets_.size());
      sets_.push_back(
          {set.bytes + kept.bytes, set.saved_us + kept.cost_us, static_cast<int>(at), call});
    }
    std::vector<std::size_t> all(front_.size() + with.size());
    const auto is_before = [&](std::size_t a, std::size_t b) {
      if (sets_[a].bytes != sets_[b].bytes) return sets_[a].bytes < sets_[b].bytes;
      return sets_[a].saved_us > sets_[b].saved_us;
    };
    std::ranges::merge(front_, with, all.begin(), is_before);
    front_.clear();
    for (const std::size_t at : all)
      if (front_.empty() || sets_[at].saved_us > sets_[front_.back()].saved_us + 1e-9)
        front_.push_back(at);
    if (front_.size() > most_labels) front_ = thinned(front_, most_labels / 2);
  }

  /// Keeping more than autograd saves is dominated by the plain step. Keeping as much may still be
  /// cheaper than estimated.
  void add_pattern(Frontier& frontier, std::size_t at) const {
    const KeptSet& set = sets_[at];
    const std::int64_t freed = region_.freed_bytes - set.bytes;
    const double policy_us = set.call >= 0 ? region_.policy_us : 0;
    if (freed < 0 || (policy_us > 0 && policy_us >= set.saved_us)) return;
    frontier.patterns.push_back(
        {.freed_bytes = freed,
         .cost_us = std::max(region_.cost_us + policy_us - set.saved_us, 0.0),
         .runs_again = true,
         .kept = calls_of(at)});
  }

  std::vector<int> calls_of(std::size_t at) const {
    std::vector<int> calls;
    for (int i = static_cast<int>(at); sets_[static_cast<std::size_t>(i)].call >= 0;
         i = sets_[static_cast<std::size_t>(i)].before)
      calls.push_back(sets_[static_cast<std::size_t>(i)].call);
    std::ranges::reverse(calls);
    return calls;
  }

  const RegionCosts& region_;
  std::vector<KeptSet> sets_;
  std::vector<std::size_t> front_;  // By ascending bytes.
};

/// `points` are by ascending freed bytes.
std::vector<BoundPoint> lower_hull(const std::vector<BoundPoint>& points) {
  std::vector<BoundPoint> hull;
  for (const BoundPoint& next : points) {
    if (!hull.empty() && next.freed_bytes <= hull.back().freed_bytes) {
      if (next.cost_us >= hull.back().cost_us) continue;
      hull.pop_back();
    }
    const auto is_above = [&] {
      const BoundPoint &a = hull[hull.size() - 2], &b = hull.back();
      return (b.cost_us - a.cost_us) * (next.freed_bytes - a.freed_bytes) >=
             (next.cost_us - a.cost_us) * (b.freed_bytes - a.freed_bytes);
    };
    while (hull.size() > 1 && is_above()) hull.pop_back();
    hull.push_back(next);
  }
  return hull;
}

/// The lower convex hull of the plain step and of keeping calls by decreasing time saved per byte:
/// the relaxation of the knapsack (Dantzig), a lower bound for every set of whole calls.
std::vector<BoundPoint> bound_of(const RegionCosts& region) {
  std::vector<std::size_t> order(region.calls.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto saved_by_byte = [&](std::size_t i) {
    const KeepableCall& call = region.calls[i];
    return call.cost_us / static_cast<double>(std::max<std::int64_t>(call.bytes, 1));
  };
  std::ranges::stable_sort(order, std::ranges::greater(), saved_by_byte);
  BoundPoint point{static_cast<double>(region.freed_bytes), region.cost_us};
  std::vector<BoundPoint> points{point};
  point.cost_us += region.policy_us;
  for (const std::size_t i : order) {
    const auto bytes = static_cast<double>(region.calls[i].bytes);
    const double share = bytes > 0 ? std::min(point.freed_bytes / bytes, 1.0) : 1.0;
    point.freed_bytes -= share * bytes;
    point.cost_us = std::max(point.cost_us - share * region.calls[i].cost_us, 0.0);
    points.push_back(point);
  }
  points.push_back({});
  std::ranges::reverse(points);
  return lower_hull(points);
}

/// Above these sizes, neighbors are merged.
constexpr std::size_t most_joined = 512, most_least = 128;

/// Merges neighbors into one point that has the bytes of the first and the savings of the last: a
/// bound for all of them. `points` ascend in kept bytes and in time saved.
void join_to(std::vector<BoundPoint>& points, std::size_t most) {
  if (points.size() <= most) return;
  std::vector<BoundPoint> joined;
  joined.reserve(most);
  for (std::size_t i = 0; i < most; ++i) {
    const std::size_t first = i * points.size() / most, end = (i + 1) * points.size() / most;
    joined.push_back({points[first].freed_bytes, points[end - 1].cost_us});
  }
  points = std::move(joined);
}

/// Pareto-optimal sets of kept calls by bytes and time saved; neighbors are merged where there are
/// too many.
std::vector<BoundPoint> least_of(const RegionCosts& region) {
  const auto most_bytes = static_cast<double>(region.freed_bytes);
  std::vector<BoundPoint> kept{{}};
  for (const KeepableCall& call : region.calls) {
    std::vector<BoundPoint> all = kept;
    for (const BoundPoint& point : kept)
      if (point.freed_bytes + static_cast<double>(call.bytes) <= most_bytes)
        all.push_back(
            {point.freed_bytes + static_cast<double>(call.bytes), point.cost_us + call.cost_us});
    std::ranges::sort(all, {}, [](const BoundPoint& point) {
      return std::pair(point.freed_bytes, -point.cost_us);
    });
    kept.clear();
    for (const BoundPoint& point : all)
      if (kept.empty() || point.cost_us > kept.back().cost_us) kept.push_back(point);
    join_to(kept, most_joined);
  }
  join_to(kept, most_least);
  std::vector<BoundPoint> least{{}, {most_bytes, region.cost_us}};
  for (const BoundPoint& point : kept)
    least.push_back({most_bytes - point.freed_bytes,
                     std::max(region.cost_us + region.policy_us - point.cost_us, 0.0)});
  return least;
}

/// Adds patterns that offload tensors saved for backward to host memory.
void add_host_patterns(Frontier& frontier, const RegionCosts& region) {
  std::vector<Pattern> all = frontier.patterns;
  const auto copied_us = [&](std::int64_t bytes) {
    return static_cast<double>(bytes) * region.host_us_per_byte;
  };
  for (Pattern pattern : frontier.patterns) {
    const std::int64_t bytes = region.input_bytes + (pattern.runs_again ? 0 : region.freed_bytes);
    pattern.freed_bytes += bytes;
    pattern.cost_us += copied_us(bytes);
    pattern.is_on_host = true;
    all.push_back(std::move(pattern));
  }
  std::ranges::stable_sort(all, std::ranges::greater(), &Pattern::freed_bytes);
  frontier.patterns.clear();
  for (Pattern& pattern : all)
    if (frontier.patterns.empty() || pattern.cost_us < frontier.patterns.back().cost_us)
      frontier.patterns.push_back(std::move(pattern));
  std::ranges::reverse(frontier.patterns);
  std::vector<BoundPoint> points = frontier.bound;
  for (const Pattern& pattern : frontier.patterns)
    points.push_back({static_cast<double>(pattern.freed_bytes), pattern.cost_us});
  std::ranges::sort(points, {}, [](const BoundPoint& point) {
    return std::pair(point.freed_bytes, point.cost_us);
  });
  frontier.bound = lower_hull(points);
}

}  // namespace

Frontier frontier_of(const RegionCosts& region) {
  Frontier found = SetBuilder(region).frontier();
  found.bound = bound_of(region);
  found.least = least_of(region);
  if (region.input_bytes > 0) add_host_patterns(found, region);
  return found;
}

}  // namespace symprof::plan
