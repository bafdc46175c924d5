#include "plan/checkpoint/kept_bytes.h"

#include <algorithm>
#include <map>
#include <string>

#include "record/region_of_call.h"

namespace symprof::plan {
namespace {

/// A recomputed call and its forward call.
struct Pair {
  CallId first = none, again = none;
  std::size_t module = 0;
  KeptCall name;
  int goes_back = never;  ///< The shared call before which its run is recomputed.
};

/// The n-th recomputed call of a node repeats its n-th forward call. Recomputation stops early, so
/// the last forward calls may have no partner.
std::vector<Pair> pairs_of(const SharedSteps& steps) {
  const Recording& recording = steps.again().recording();
  std::map<NodeId, std::vector<CallId>> forward;
  std::map<NodeId, std::vector<Pair>> runs;
  std::map<NodeId, std::map<std::int32_t, int>> counts;
  for (std::size_t i = 0; i < recording.calls.size(); ++i) {
    const CallRecord& call = recording.calls[i];
    const auto id = static_cast<CallId>(i);
    if (call.phase == Phase::forward) forward[call.node].push_back(id);
    if (!steps.again().is_again(id)) continue;
    std::vector<Pair>& run = runs[call.node];
    const std::size_t at = run.size();
    const int goes_back = run.empty() ? steps.again().place(id) : run.front().goes_back;
    run.push_back(
        {.first = at < forward[call.node].size() ? forward[call.node][at] : none,
         .again = id,
         .module = steps.modules().at(region_of_call(recording, id)),
         .name = {recording.ops[static_cast<std::size_t>(call.op)], counts[call.node][call.op]++},
         .goes_back = goes_back});
  }
  std::vector<Pair> pairs;
  for (const auto& [node, run] : runs) pairs.insert(pairs.end(), run.begin(), run.end());
  return pairs;
}

bool is_of_forward(const SharedCalls& calls, int place) {
  if (place < 0 || static_cast<std::size_t>(place) >= calls.calls().size()) return false;
  const Phase phase = calls.call(static_cast<std::size_t>(place)).phase;
  return phase == Phase::forward || phase == Phase::loss;
}

}  // namespace

KeptBytes::KeptBytes(const StepCosts& costs, const SharedSteps& steps, const CertainBytes& bytes)
    : changes_(steps.regions()), last_(steps.regions(), -1) {
  for (const RegionCosts& region : costs.regions) calls_.push_back(region.calls.size());
  const SharedCalls& again = steps.again();
  const Recording& recording = again.recording();
  for (const Pair& pair : pairs_of(steps)) {
    if (pair.module >= steps.regions() || pair.first == none) continue;
    const std::vector<KeepableCall>& calls = costs.regions[pair.module].calls;
    const auto found = std::ranges::lower_bound(calls, pair.name, {}, &KeepableCall::call);
    const bool is_keepable = found != calls.end() && found->call == pair.name;
    const auto call = static_cast<std::size_t>(found - calls.begin());
    const auto& made = recording.calls[static_cast<std::size_t>(pair.first)].outputs;
    const auto& made_again = recording.calls[static_cast<std::size_t>(pair.again)].outputs;
    std::vector<StorageId> seen;
    for (std::size_t i = 0; i < std::min(made.size(), made_again.size()); ++i) {
      const StorageId one = made[i].storage, other = made_again[i].storage;
      if (one == none || other == none || std::ranges::find(seen, one) != seen.end()) continue;
      seen.push_back(one);
      const Span& first = again.span(one);
      const Span& second = again.span(other);
      if (second.last != never) last_[pair.module] = std::max(last_[pair.module], second.last);
      if (!is_keepable) continue;
      if (is_of_forward(again, first.last))
        add(pair.module, {{steps.goes_back(pair.module), pair.goes_back - 1},
                          call,
                          bytes.weight(again.bytes(one))});
      add(pair.module, {second.within(first), call, -bytes.weight(again.bytes(other))});
    }
  }
}

void KeptBytes::add(std::size_t region, const Change& change) {
  if (!change.span.is_empty() && change.bytes != 0) changes_[region].push_back(change);
}

std::vector<std::int64_t> KeptBytes::at(std::size_t region, int place) const {
  std::vector<std::int64_t> sums(calls_[region], 0);
  for (const Change& change : changes_[region])
    if (change.span.first <= place && place <= change.span.last) sums[change.call] += change.bytes;
  return sums;
}

}  // namespace symprof::plan
