#include "plan/checkpoint/pool_rows.h"

#include <algorithm>
#include <map>
#include <utility>

#include "plan/checkpoint/certain_bytes.h"
#include "plan/checkpoint/kept_bytes.h"

namespace symprof::plan {
namespace {

std::vector<std::vector<std::int64_t>> kept_bytes(const StepCosts& costs,
                                                  const CertainBytes& bytes) {
  std::vector<std::vector<std::int64_t>> kept;
  for (const RegionCosts& region : costs.regions) {
    std::vector<std::int64_t>& of_calls = kept.emplace_back();
    for (const KeepableCall& call : region.calls) {
      std::int64_t sum = 0;
      for (const std::int64_t block : call.blocks) sum += bytes.weight(block);
      of_calls.push_back(sum);
    }
  }
  return kept;
}

/// The least and the most bytes that a region's kept calls may hold.
struct Range {
  std::int64_t least = 0, most = 0;

  explicit Range(const std::vector<std::int64_t>& kept) {
    for (const std::int64_t bytes : kept) (bytes < 0 ? least : most) += bytes;
  }
};

/// Reads the rows of one pool: among calls where all regions behave alike, the one that holds the
/// most.
class RowReader {
 public:
  RowReader(const StepCosts& costs, const SharedSteps& steps, const CertainBytes& bytes,
            PoolRows& pool)
      : steps_(steps), bytes_(bytes), kept_bytes_(costs, steps, bytes), pool_(pool) {
    for (std::vector<std::int64_t>& of_calls : kept_bytes(costs, bytes)) {
      sets_.push_back({{of_calls, 0}});
      ranges_.push_back({Range(of_calls)});
      pool_.kept.push_back({std::move(of_calls)});
    }
  }

  void read(std::vector<std::int64_t> held) {
    held_ = std::move(held);
    const std::size_t regions = pool_.kept.size();
    freed_.assign(held_.size(), std::vector<std::int64_t>(regions, HeldRow::undecided));
    kept_.assign(held_.size(), std::vector<std::size_t>(regions, 0));
    for (std::size_t module = 0; module < steps_.modules().size(); ++module) read_module(module);
    std::map<std::pair<std::vector<std::int64_t>, std::vector<std::size_t>>, std::int64_t> most;
    for (std::size_t place = 0; place < held_.size(); ++place) {
      const auto [found, is_new] =
          most.try_emplace({std::move(freed_[place]), std::move(kept_[place])}, held_[place]);
      if (!is_new) found->second = std::max(found->second, held_[place]);
    }
    std::vector<HeldRow> rows;
    rows.reserve(most.size());
    for (const auto& [of_call, bytes_held] : most)
      rows.push_back({bytes_held, of_call.first, of_call.second});
    pool_.rows = highest(std::move(rows));
  }

 private:
  void read_module(std::size_t module) {
    const std::vector<std::int64_t> difference = bytes_.difference(module);
    for (std::size_t place = 0; place < held_.size(); ++place) {
      const std::int64_t freed = std::max<std::int64_t>(difference[place], 0);
      if (bytes_.is_choice(module, place))
        freed_[place][module] = freed;
      else if (!is_after_return(module, place, difference[place]))
        held_[place] -= freed;
    }
  }

  /// After a region's recomputation, while some of its recomputed outputs are alive: gives the call
  /// a row of its own.
  bool is_after_return(std::size_t module, std::size_t place, std::int64_t difference) {
    const auto at = static_cast<int>(place);
    if (module >= steps_.regions() || at < steps_.goes_back(module) ||
        at > kept_bytes_.last_place(module))
      return false;
    std::vector<std::int64_t> kept = kept_bytes_.at(module, at);
    if (difference == 0 && std::ranges::count(kept, 0) == std::ssize(kept)) return false;
    freed_[place][module] = difference;
    std::vector<std::vector<std::int64_t>>& of_region = pool_.kept[module];
    const auto [found, is_new] = sets_[module].try_emplace(kept, of_region.size());
    if (is_new) {
      ranges_[module].emplace_back(kept);
      of_region.push_back(std::move(kept));
    }
    kept_[place][module] = found->second;
    return true;
  }

  /// True if `other` holds no more than `row`, whatever the regions do.
  bool is_below(const HeldRow& other, const HeldRow& row) const {
    if (other.bytes > row.bytes) return false;
    for (std::size_t region = 0; region < row.freed.size(); ++region) {
      const bool is_decided = row.freed[region] != HeldRow::undecided,
                 is_other = other.freed[region] != HeldRow::undecided;
      if (is_decided && is_other && row.kept[region] == other.kept[region]) {
        if (row.freed[region] > other.freed[region]) return false;
        continue;
      }
      const std::vector<Range>& ranges = ranges_[region];
      const std::int64_t most_of_other =
          is_other ? ranges[other.kept[region]].most - other.freed[region] : 0;
      const std::int64_t least_of_row =
          is_decided ? ranges[row.kept[region]].least - row.freed[region] : 0;
      if (most_of_other > least_of_row) return false;
    }
    return true;
  }

  /// Drops most dominated rows: each is compared with the highest ones only.
  std::vector<HeldRow> highest(std::vector<HeldRow> rows) const {
    constexpr std::size_t most_compared = 64;
    std::ranges::stable_sort(rows, std::ranges::greater(), &HeldRow::bytes);
    std::vector<HeldRow> kept;
    for (HeldRow& row : rows) {
      const auto compared =
          kept.begin() + static_cast<std::ptrdiff_t>(std::min(kept.size(), most_compared));
      if (std::none_of(kept.begin(), compared,
                       [&](const HeldRow& one) { return is_below(row, one); }))
        kept.push_back(std::move(row));
    }
    return kept;
  }

  const SharedSteps& steps_;
  const CertainBytes& bytes_;
  KeptBytes kept_bytes_;
  PoolRows& pool_;
  std::vector<std::map<std::vector<std::int64_t>, std::size_t>> sets_;  // By region.
  std::vector<std::vector<Range>> ranges_;                              // As in PoolRows::kept.
  std::vector<std::int64_t> held_;                                      // By place.
  std::vector<std::vector<std::int64_t>> freed_;                        // By place and region.
  std::vector<std::vector<std::size_t>> kept_;                          // The same.
};

}  // namespace

std::vector<PoolRows> pool_rows(const StepCosts& costs, const SharedSteps& steps,
                                const std::vector<HeldBytes>& held_bytes,
                                const std::vector<WeighedStep>& weighed) {
  std::vector<PoolRows> pools;
  const auto add = [&](Pool pool, const profile::SegmentWeights* weights,
                       const std::vector<HeldBytes>& held) {
    const CertainBytes bytes(steps, pool, weights);
    PoolRows& rows = pools.emplace_back();
    rows.is_small = pool == Pool::small;
    if (weights != nullptr) rows.base_bytes = weights->base_bytes;
    if (weights != nullptr) rows.unit_bytes = weights->unit_bytes;
    RowReader(costs, steps, bytes, rows).read(bytes.held(held));
  };
  if (weighed.empty()) add(Pool::all, nullptr, held_bytes);
  for (std::size_t i = 0; i < weighed.size(); ++i) {
    const auto is_new = [&](const profile::SegmentWeights profile::PoolWeights::*pool) {
      return std::none_of(weighed.begin(), weighed.begin() + static_cast<std::ptrdiff_t>(i),
                          [&](const WeighedStep& other) {
                            return other.weights.*pool == weighed[i].weights.*pool;
                          });
    };
    const profile::PoolWeights& weights = weighed[i].weights;
    if (is_new(&profile::PoolWeights::small)) add(Pool::small, &weights.small, weighed[i].held);
    if (is_new(&profile::PoolWeights::large)) add(Pool::large, &weights.large, weighed[i].held);
  }
  return pools;
}

}  // namespace symprof::plan
