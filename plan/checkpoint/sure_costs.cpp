#include "plan/checkpoint/sure_costs.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/rounding.h"
#include "plan/checkpoint/certain_bytes.h"

namespace symprof::plan {
namespace {

class SureReader {
 public:
  /// Takes `weights` as CertainBytes does.
  SureReader(const StepCosts& costs, const SharedSteps& steps, Pool pool,
             const profile::SegmentWeights* weights)
      : costs_(costs), steps_(steps), bytes_(steps, pool, weights) {}

  StepCosts read(const std::vector<HeldBytes>& held_bytes) {
    std::vector<std::int64_t> held = bytes_.held(held_bytes);
    std::vector<std::size_t> active(held.size(), 0);
    std::vector<std::vector<std::int64_t>> freed;  // By module and call.
    for (std::size_t r = 0; r < steps_.modules().size(); ++r) {
      std::vector<std::int64_t>& sums = freed.emplace_back(bytes_.freed(r));
      for (std::size_t i = 0; i < held.size(); ++i) {
        if (bytes_.is_choice(r, i))
          active[i] = r + 1;
        else
          held[i] -= std::exchange(sums[i], 0);
      }
    }
    StepCosts sure{.regions = regions()};
    const std::vector<std::size_t> places = places_of_windows(held, active, freed);
    for (const std::size_t i : places)
      sure.windows.push_back({active[i], held[i], steps_.plain().calls()[i]});
    note_freed(sure.regions, places, active, freed);
    return sure;
  }

  /// A lower bound of the pool's peak, whatever is recomputed.
  std::int64_t least_peak() const { return least_peak_; }

 private:
  /// The regions' calls, with the bytes that keeping them holds in the pool.
  std::vector<RegionCosts> regions() const {
    std::vector<RegionCosts> regions = costs_.regions;
    for (RegionCosts& region : regions)
      for (KeepableCall& call : region.calls) {
        call.bytes = 0;
        for (const std::int64_t block : call.blocks) call.bytes += bytes_.weight(block);
      }
    return regions;
  }

  /// For each window the call that holds the most, and the call that holds the most when all
  /// regions free what they can.
  std::vector<std::size_t> places_of_windows(const std::vector<std::int64_t>& held,
                                             const std::vector<std::size_t>& active,
                                             const std::vector<std::vector<std::int64_t>>& freed) {
    std::vector<std::int64_t> least = held;
    for (const std::vector<std::int64_t>& sums : freed)
      for (std::size_t i = 0; i < least.size(); ++i) least[i] -= sums[i];
    if (!least.empty()) least_peak_ = std::ranges::max(least);
    std::vector<std::optional<std::size_t>> most_held(costs_.regions.size() + 1),
        most_left(costs_.regions.size() + 1);
    for (std::size_t i = 0; i < held.size(); ++i) {
      std::optional<std::size_t>&most = most_held[active[i]], &left = most_left[active[i]];
      if (!most || held[i] > held[*most]) most = i;
      if (!left || least[i] > least[*left]) left = i;
    }
    std::vector<std::size_t> places;
    for (std::size_t window = 0; window < most_held.size(); ++window) {
      if (!most_held[window]) continue;
      places.push_back(*most_held[window]);
      if (most_left[window] != most_held[window]) places.push_back(*most_left[window]);
    }
    return places;
  }

  /// The most that each region frees at one of these calls.
  static void note_freed(std::vector<RegionCosts>& regions, const std::vector<std::size_t>& places,
                         const std::vector<std::size_t>& active,
                         const std::vector<std::vector<std::int64_t>>& freed) {
    for (std::size_t r = 0; r < regions.size(); ++r) {
      std::int64_t before = 0, last = 0;
      for (const std::size_t i : places)
        (active[i] == r + 1 ? last : before) =
            std::max(active[i] == r + 1 ? last : before, freed[r][i]);
      regions[r].freed_bytes = before > 0 ? before : last;
      regions[r].freed_last_bytes = std::max<std::int64_t>(last - regions[r].freed_bytes, 0);
    }
  }

  const StepCosts& costs_;
  const SharedSteps& steps_;
  CertainBytes bytes_;
  std::int64_t least_peak_ = 0;
};

/// A pool keeps its segments, so `other_bytes` that the other pool needs at some moment stay
/// reserved while this pool is at its peak.
void reserve_beside(StepCosts& costs, const profile::SegmentWeights& own,
                    std::int64_t other_bytes) {
  for (Window& window : costs.windows) {
    window.bytes += other_bytes;
    window.other_pool_bytes = other_bytes;
  }
  costs.base_bytes = own.base_bytes + other_bytes;
  costs.unit_bytes = own.unit_bytes;
}

/// A lower bound of the pool's segments, given the weight of its blocks.
std::int64_t reserved(const profile::SegmentWeights& pool, std::int64_t weight) {
  return pool.base_bytes +
         round_up(std::max<std::int64_t>(weight - pool.base_bytes, 0), pool.unit_bytes);
}

}  // namespace

std::vector<StepCosts> sure_costs(const StepCosts& costs, const SharedSteps& steps,
                                  const std::vector<HeldBytes>& held_bytes,
                                  const std::vector<WeighedStep>& weighed) {
  std::vector<StepCosts> sure{SureReader(costs, steps, Pool::all, nullptr).read(held_bytes)};
  std::vector<StepCosts> small, large;
  std::int64_t least_small = 0, least_large = 0;
  for (const auto& [weights, held] : weighed) {
    SureReader of_small(costs, steps, Pool::small, &weights.small),
        of_large(costs, steps, Pool::large, &weights.large);
    small.push_back(of_small.read(held));
    large.push_back(of_large.read(held));
    least_small = std::max(least_small, reserved(weights.small, of_small.least_peak()));
    least_large = std::max(least_large, reserved(weights.large, of_large.least_peak()));
  }
  for (std::size_t i = 0; i < weighed.size(); ++i) {
    reserve_beside(large[i], weighed[i].weights.large, least_small);
    reserve_beside(small[i], weighed[i].weights.small, least_large);
    const auto before = weighed.begin() + static_cast<std::ptrdiff_t>(i);
    const auto is_new = [&](const profile::SegmentWeights profile::PoolWeights::*pool) {
      return std::none_of(weighed.begin(), before, [&](const WeighedStep& other) {
        return other.weights.*pool == before->weights.*pool;
      });
    };
    if (is_new(&profile::PoolWeights::large)) sure.push_back(std::move(large[i]));
    if (is_new(&profile::PoolWeights::small)) sure.push_back(std::move(small[i]));
  }
  return sure;
}

}  // namespace symprof::plan
