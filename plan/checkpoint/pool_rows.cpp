#include "plan/checkpoint/pool_rows.h"

#include <algorithm>
#include <map>
#include <utility>

#include "plan/checkpoint/certain_bytes.h"

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

/// Whatever regions do, `other` is no higher.
bool is_below(const HeldRow& other, const HeldRow& row) {
  for (std::size_t region = 0; region < row.freed.size(); ++region) {
    const bool is_decided = row.freed[region] != HeldRow::undecided,
               is_other = other.freed[region] != HeldRow::undecided;
    if (is_other && !is_decided) return false;
    if (is_decided && row.freed[region] > (is_other ? other.freed[region] : 0)) return false;
  }
  return other.bytes <= row.bytes;
}

/// Most that are below another one are left out: they are compared with the highest.
std::vector<HeldRow> highest(std::vector<HeldRow> rows) {
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

/// Of calls at which all regions free the same, the one that holds the most.
std::vector<HeldRow> rows_of(const StepCosts& costs, const SharedSteps& steps,
                             const CertainBytes& bytes, std::vector<std::int64_t> held) {
  const std::size_t regions = costs.regions.size();
  std::vector<std::vector<std::int64_t>> freed;  // By module and call.
  for (std::size_t module = 0; module < steps.modules().size(); ++module) {
    freed.push_back(bytes.freed(module));
    for (std::size_t place = 0; place < held.size(); ++place)
      if (!bytes.is_choice(module, place))
        held[place] -= std::exchange(freed.back()[place], HeldRow::undecided);
  }
  std::map<std::vector<std::int64_t>, std::int64_t> most;
  for (std::size_t place = 0; place < held.size(); ++place) {
    std::vector<std::int64_t> of_call;
    of_call.reserve(regions);
    for (std::size_t region = 0; region < regions; ++region)
      of_call.push_back(freed[region][place]);
    const auto [found, is_new] = most.try_emplace(std::move(of_call), held[place]);
    if (!is_new) found->second = std::max(found->second, held[place]);
  }
  std::vector<HeldRow> rows;
  rows.reserve(most.size());
  for (const auto& [of_call, bytes_held] : most) rows.push_back({bytes_held, of_call});
  return highest(std::move(rows));
}

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
    rows.rows = rows_of(costs, steps, bytes, bytes.held(held));
    rows.kept = kept_bytes(costs, bytes);
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
