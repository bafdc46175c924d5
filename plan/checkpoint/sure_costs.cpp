#include "plan/checkpoint/sure_costs.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "base/rounding.h"
#include "plan/checkpoint/region_of_call.h"
#include "plan/checkpoint/shared_calls.h"
#include "plan/checkpoint/shared_steps.h"

namespace symprof::plan {
namespace {

/// Bytes that are there while some calls run, by call.
class Sums {
 public:
  explicit Sums(std::size_t calls) : changes_(calls + 1) {}

  void add(const Span& span, std::int64_t bytes) {
    if (span.is_empty() || bytes == 0) return;
    const auto calls = static_cast<std::ptrdiff_t>(changes_.size()) - 1;
    const auto at = [&](std::ptrdiff_t place) -> std::int64_t& {
      return changes_[static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(place, 0, calls))];
    };
    at(span.first) += bytes;
    at(std::ptrdiff_t{span.last} + 1) -= bytes;
  }

  std::vector<std::int64_t> by_call() const {
    std::vector<std::int64_t> sums(changes_.size() - 1);
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = sum += changes_[i];
    return sums;
  }

 private:
  std::vector<std::int64_t> changes_;
};

enum class Pool : std::uint8_t { all, small, large };

class SureReader {
 public:
  /// `weights` are those of the pool; null: blocks of all pools count, in bytes.
  SureReader(const StepCosts& costs, const SharedSteps& steps, Pool pool,
             const profile::SegmentWeights* weights)
      : costs_(costs),
        steps_(steps),
        pool_(pool),
        weights_(weights),
        held_plain_(steps.modules().size(), Sums(steps.plain().calls().size())),
        held_again_(held_plain_),
        uncertain_(steps.plain().calls().size()) {}

  StepCosts read(const std::vector<HeldBytes>& held_bytes) {
    add_forward_storages();
    add_made_again();
    add_others();
    return summed_up(held_bytes);
  }

  /// What blocks of the pool hold at some moment, whatever runs again.
  std::int64_t least_peak() const { return least_peak_; }

 private:
  const SharedCalls& plain() const { return steps_.plain(); }
  const SharedCalls& again() const { return steps_.again(); }

  std::size_t count() const { return plain().calls().size(); }

  /// Of the pool's blocks; 0 for others.
  std::int64_t bytes(const SharedCalls& calls, StorageId storage) const {
    return weight(calls.bytes(storage));
  }

  std::int64_t weight(std::int64_t bytes) const {
    const Pool pool = bytes > largest_small_bytes ? Pool::large : Pool::small;
    if (pool_ == Pool::all) return bytes;
    return pool_ == pool ? weights_->of(bytes) : 0;
  }

  std::int64_t bytes(const HeldBytes& held) const {
    if (pool_ == Pool::all) return held.all;
    return pool_ == Pool::small ? held.small : held.large;
  }

  /// One storage in all recordings; empty spans where a recording has none like it.
  struct Spans {
    Span plain, again, even, odd;
  };

  void add_forward_storages() {
    const std::vector<Holders> held_by = steps_.holders();
    const auto made = plain().made(), made_again = again().made(), made_even = steps_.even().made(),
               made_odd = steps_.odd().made();
    for (std::size_t i = 0; i < made.size(); ++i) {
      if (plain().call(i).phase != Phase::forward) continue;
      for (std::size_t j = 0; j < made[i].size(); ++j) {
        const std::int64_t size = bytes(plain(), made[i][j]);
        const auto span_in = [&](const SharedCalls& other,
                                 const std::vector<std::vector<StorageId>>& others) {
          if (j >= others[i].size() || bytes(other, others[i][j]) != size) return Span{};
          return other.span(others[i][j]);
        };
        const Spans spans{plain().span(made[i][j]), span_in(again(), made_again),
                          span_in(steps_.even(), made_even), span_in(steps_.odd(), made_odd)};
        add(spans, size, steps_.module_of(i), held_by[static_cast<std::size_t>(made[i][j])]);
        if (steps_.module_of(i) != none && spans.again.last != never &&
            is_in_forward(spans.again.last))
          last_forward_free_ = std::max(last_forward_free_, spans.again.last);
      }
    }
  }

  bool is_in_forward(int place) const {
    if (place < 0 || static_cast<std::size_t>(place) >= count()) return false;
    const Phase phase = plain().call(static_cast<std::size_t>(place)).phase;
    return phase == Phase::forward || phase == Phase::loss;
  }

  void add(const Spans& spans, std::int64_t bytes, int region, Holders holders) {
    holders.maker = region;  // Also of what no later call sees.
    const std::size_t regions = holders.readers.size() + (region == none ? 0 : 1);
    if (regions == 1) {
      const auto one = static_cast<std::size_t>(region == none ? *holders.readers.begin() : region);
      held_plain_[one].add(spans.plain, bytes);
      held_again_[one].add(spans.again, bytes);
    } else if (regions == 2 && region != none && !is_alike(region, *holders.readers.begin())) {
      add_of_two(spans, bytes, region);
    } else if (regions > 0) {
      add_of_many(spans, bytes, holders);
    } else {
      base_plain_.emplace_back(spans.plain, bytes);
      base_other_[0].emplace_back(spans.again, bytes);
      base_other_[1].emplace_back(spans.even, bytes);
      base_other_[2].emplace_back(spans.odd, bytes);
    }
  }

  /// Both run again in the same recordings, or one is no region of the plan's.
  bool is_alike(int a, int b) const {
    const auto regions = static_cast<int>(costs_.regions.size());
    return a >= regions || b >= regions || a % 2 == b % 2;
  }

  /// As the maker runs, however the reader does.
  void add_of_two(const Spans& spans, std::int64_t bytes, int maker) {
    const Span& maker_again = maker % 2 == 0 ? spans.even : spans.odd;
    const Span& reader_again = maker % 2 == 0 ? spans.odd : spans.even;
    const auto at = static_cast<std::size_t>(maker);
    const Span sure = spans.plain.within(reader_again);
    held_plain_[at].add(sure, bytes);
    held_again_[at].add(spans.again.within(maker_again), bytes);
    uncertain_.add(spans.plain, bytes);
    uncertain_.add(sure, -bytes);
  }

  /// A region that runs again keeps its inputs until then, and if all readers are plain, it is as
  /// in the plain step, unless it goes because its maker runs again.
  void add_of_many(const Spans& spans, std::int64_t bytes, const Holders& holders) {
    uncertain_.add(spans.plain, bytes);
    Span sure = spans.plain.within(spans.again);
    for (const int reader : holders.readers) {
      if (reader >= static_cast<int>(costs_.regions.size())) return;
      sure.last = std::min(sure.last, steps_.goes_back(static_cast<std::size_t>(reader)) - 1);
    }
    if (holders.maker != none) {
      for (const int reader : holders.readers)
        if (is_alike(holders.maker, reader)) return;
      sure = sure.within(holders.maker % 2 == 0 ? spans.even : spans.odd);
    }
    uncertain_.add(sure, -bytes);
  }

  /// What is there because a region ran again.
  void add_made_again() {
    const Recording& recording = again().recording();
    for (std::size_t i = 0; i < recording.storages.size(); ++i) {
      const CallId by = recording.storages[i].allocated_by;
      const auto storage = static_cast<StorageId>(i);
      if (by != none && again().is_again(by))
        held_again_[steps_.modules().at(region_of_call(recording, by))].add(
            again().span(storage), bytes(again(), storage));
    }
  }

  /// Gradients and the like.
  void add_others() {
    const auto add = [this](const SharedCalls& calls, auto& list) {
      const auto made = calls.made();
      for (std::size_t i = 0; i < made.size(); ++i)
        if (calls.call(i).phase != Phase::forward)
          for (const StorageId storage : made[i])
            list.emplace_back(calls.span(storage), bytes(calls, storage));
    };
    add(plain(), base_plain_);
    add(again(), base_other_[0]);
    add(steps_.even(), base_other_[1]);
    add(steps_.odd(), base_other_[2]);
  }

  using Spanned = std::vector<std::pair<Span, std::int64_t>>;

  std::vector<std::int64_t> sums_of(const Spanned& list) const {
    Sums sums(count());
    for (const auto& [span, bytes] : list) sums.add(span, bytes);
    return sums.by_call();
  }

  /// By shared call: what the plain step holds and another one might not, but for its regions.
  std::vector<std::int64_t> uncertain_bytes() const {
    std::vector<std::int64_t> sums = uncertain_.by_call();
    const std::vector<std::int64_t> plain = sums_of(base_plain_);
    std::vector<std::int64_t> most(sums.size(), 0);
    for (const Spanned& list : base_other_) {
      const std::vector<std::int64_t> other = sums_of(list);
      for (std::size_t i = 0; i < most.size(); ++i)
        most[i] = std::max(most[i], plain[i] - other[i]);
    }
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += most[i];
    return sums;
  }

  StepCosts summed_up(const std::vector<HeldBytes>& held_bytes) {
    std::vector<std::int64_t> held = uncertain_bytes();
    for (std::size_t i = 0; i < held.size(); ++i)
      held[i] = bytes(held_bytes[static_cast<std::size_t>(plain().calls()[i])]) - held[i];
    std::vector<std::size_t> active(held.size(), 0);
    std::vector<std::vector<std::int64_t>> freed;  // By module and call.
    for (std::size_t r = 0; r < held_plain_.size(); ++r) {
      std::vector<std::int64_t>& sums = freed.emplace_back(held_plain_[r].by_call());
      const std::vector<std::int64_t> again = held_again_[r].by_call();
      for (std::size_t i = 0; i < held.size(); ++i) {
        sums[i] = std::max<std::int64_t>(sums[i] - again[i], 0);
        if (is_choice(r, i))
          active[i] = r + 1;
        else
          held[i] -= std::exchange(sums[i], 0);
      }
    }
    StepCosts sure{.regions = regions()};
    const std::vector<std::size_t> places = places_of_windows(held, active, freed);
    for (const std::size_t i : places)
      sure.windows.push_back({active[i], held[i], plain().calls()[i]});
    note_freed(sure.regions, places, active, freed);
    return sure;
  }

  /// Calls of which the pool's blocks are kept.
  std::vector<RegionCosts> regions() const {
    std::vector<RegionCosts> regions = costs_.regions;
    if (pool_ == Pool::all) return regions;
    for (RegionCosts& region : regions)
      for (KeepableCall& call : region.calls) {
        call.bytes = 0;
        for (const std::int64_t block : call.blocks) call.bytes += weight(block);
      }
    return regions;
  }

  /// By window the call at which most is held, and that at which most is held when all regions
  /// free what they can.
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

  /// What each region frees at most at one of these calls.
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

  /// What the region frees at the call depends on what it keeps. Before backward, what is kept may
  /// be there anyway.
  bool is_choice(std::size_t region, std::size_t place) const {
    const auto at = static_cast<int>(place);
    return region < costs_.regions.size() && at > last_forward_free_ &&
           at < steps_.goes_back(region) && plain().call(place).phase != Phase::forward;
  }

  const StepCosts& costs_;
  const SharedSteps& steps_;
  Pool pool_;
  const profile::SegmentWeights* weights_;
  std::vector<Sums> held_plain_, held_again_;  // By module.
  Sums uncertain_;
  Spanned base_plain_;
  std::array<Spanned, 3> base_other_;  // all again, even, odd
  int last_forward_free_ = -1;
  std::int64_t least_peak_ = 0;
};

/// A pool's segments stay, so that a step which holds `other_bytes` in it at some moment has them
/// reserved when the other pool holds the most.
void reserve_beside(StepCosts& costs, const profile::SegmentWeights& own,
                    std::int64_t other_bytes) {
  for (Window& window : costs.windows) {
    window.bytes += other_bytes;
    window.other_pool_bytes = other_bytes;
  }
  costs.base_bytes = own.base_bytes + other_bytes;
  costs.unit_bytes = own.unit_bytes;
}

/// What the pool's segments have at least where its blocks weigh so much.
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
    sure.push_back(std::move(large[i]));
    sure.push_back(std::move(small[i]));
  }
  return sure;
}

}  // namespace symprof::plan
