#include "snapshot/steps.h"

#include <algorithm>
#include <compare>
#include <map>
#include <span>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

namespace symprof::snapshot {
namespace {

/// A request of a kind: from where, and how large.
struct KindOfRequest {
  std::int64_t bytes = 0;
  StackId stack = 0;
  std::uint32_t at = 0;  ///< The request's number.

  bool is_like(const KindOfRequest& other) const {
    return bytes == other.bytes && stack == other.stack;
  }
  auto key() const { return std::tuple(bytes, stack, at); }
};

/// When requests of one kind came.
struct Occurrences {
  std::uint32_t first = 0, last = 0, count = 0;
  std::uint32_t least_gap = ~std::uint32_t{0}, most_gap = 0;

  void add(std::uint32_t at) {
    if (count > 0) {
      least_gap = std::min(least_gap, at - last);
      most_gap = std::max(most_gap, at - last);
    } else {
      first = at;
    }
    last = at;
    ++count;
  }
  /// Gaps of about one size, which together are about all `requests`.
  bool is_even(std::uint32_t requests) const {
    constexpr double evenness = 0.7, coverage = 0.8;
    if (count < 2 || least_gap < evenness * most_gap) return false;
    const double mean = static_cast<double>(last - first) / (count - 1);
    return mean * count >= coverage * requests && mean * count <= (2 - coverage) * requests;
  }
};

/// The requests of one kind that comes evenly, in their order.
using EvenKind = std::span<const KindOfRequest>;

/// `sorted` has the requests of each kind one behind the other. A kind has to come three times, as
/// two gaps are needed to see that they are equal.
std::vector<EvenKind> find_even_kinds(const std::vector<KindOfRequest>& sorted) {
  constexpr std::uint32_t fewest_steps = 3;
  std::vector<EvenKind> found;
  for (auto begin = sorted.begin(); begin != sorted.end();) {
    Occurrences occurrences;
    auto end = begin;
    for (; end != sorted.end() && end->is_like(*begin); ++end) occurrences.add(end->at);
    if (occurrences.count >= fewest_steps &&
        occurrences.is_even(static_cast<std::uint32_t>(sorted.size())))
      found.emplace_back(begin, end);
    begin = end;
  }
  return found;
}

/// Indices of the requests that begin a step. The number of steps is how often most of the regular
/// kinds come; of the kinds that come so often, the first begins the step. Empty without any.
std::vector<std::uint32_t> find_begins(const std::vector<const Request*>& requests) {
  std::vector<KindOfRequest> sorted;
  sorted.reserve(requests.size());
  for (std::uint32_t i = 0; i < requests.size(); ++i)
    sorted.push_back({requests[i]->requested_bytes, requests[i]->stack, i});
  std::ranges::sort(sorted, {}, &KindOfRequest::key);
  const std::vector<EvenKind> kinds = find_even_kinds(sorted);
  std::map<std::size_t, std::uint32_t> kinds_by_count;
  for (const EvenKind& kind : kinds) ++kinds_by_count[kind.size()];
  if (kinds.empty()) return {};
  const auto most =
      std::ranges::max_element(kinds_by_count, {}, [](const auto& entry) { return entry.second; });
  const EvenKind* first = nullptr;
  for (const EvenKind& kind : kinds)
    if (kind.size() == most->first && (!first || kind.front().at < first->front().at))
      first = &kind;
  std::vector<std::uint32_t> begins;
  for (const KindOfRequest& request : *first) begins.push_back(request.at);
  return begins;
}

/// The step of an event; -1 before the first.
std::int64_t step_of(const std::vector<EventIndex>& begins, EventIndex event) {
  return std::ranges::upper_bound(begins, event) - begins.begin() - 1;
}

std::vector<Leak> find_leaks(const History& history, const Sites& sites,
                             const std::vector<EventIndex>& begins) {
  std::unordered_map<LineId, Leak> leaks;
  std::unordered_map<LineId, std::int64_t> last_steps;
  std::unordered_set<LineId> left_by_last;
  const auto count = static_cast<std::int64_t>(begins.size());
  for (const Request& request : history.requests) {
    if (request.begin == no_event || request.freed != no_event) continue;
    const std::int64_t step = step_of(begins, request.begin);
    if (step < 1) continue;
    const LineId line = sites.line_of(request);
    if (step == count - 1) {
      left_by_last.insert(line);
      continue;
    }
    Leak& leak = leaks[line];
    leak.line = line;
    leak.bytes += request.bytes;
    ++leak.blocks;
    const auto [at, is_new] = last_steps.try_emplace(line, -1);
    if (at->second != step) ++leak.steps;
    at->second = step;
  }
  std::vector<Leak> found;
  found.reserve(leaks.size());
  // One block of one step may be what the next step takes over: its batch, made before it begins.
  for (const auto& [line, leak] : leaks)
    if (leak.steps > 1 || left_by_last.contains(line)) found.push_back(leak);
  std::ranges::sort(found, [](const Leak& a, const Leak& b) {
    return a.bytes != b.bytes ? a.bytes > b.bytes : a.line < b.line;
  });
  return found;
}

}  // namespace

Steps find_steps(const Snapshot& snapshot, const History& history, const Sites& sites) {
  Steps steps;
  std::vector<const Request*> requests;
  for (const Request& request : history.requests)
    if (request.begin != no_event) requests.push_back(&request);
  for (const std::uint32_t at : find_begins(requests)) steps.begins.push_back(requests[at]->begin);
  if (steps.begins.empty()) return steps;
  UsageWalk walk(snapshot, history);
  for (std::int64_t before = history.start.allocated; walk.next();
       before = walk.usage().allocated) {
    if (steps.allocated.size() < steps.begins.size() &&
        steps.begins[steps.allocated.size()] == walk.event()) {
      steps.allocated.push_back(before);
      steps.peaks.push_back(before);
    }
    if (!steps.peaks.empty())
      steps.peaks.back() = std::max(steps.peaks.back(), walk.usage().allocated);
  }
  steps.leaks = find_leaks(history, sites, steps.begins);
  return steps;
}

}  // namespace symprof::snapshot
