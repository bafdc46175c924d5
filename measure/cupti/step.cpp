#include "measure/cupti/step.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "measure/busy_time.h"
#include "measure/median_times.h"

namespace symprof::measure::cupti {
namespace {

using Link = Activity::Link;

/// The entries of `all` by correlation id, in order.
template <class Entry>
class ByCorrelation {
 public:
  explicit ByCorrelation(const std::vector<Entry>& all) {
    for (const Entry& entry : all) entries_[entry.correlation].push_back(&entry);
  }
  const std::vector<const Entry*>& of(std::uint32_t correlation) const {
    static const std::vector<const Entry*> nothing;
    const auto found = entries_.find(correlation);
    return found == entries_.end() ? nothing : found->second;
  }

 private:
  std::unordered_map<std::uint32_t, std::vector<const Entry*>> entries_;
};

/// The last call with the id that began before the work; of nested calls (a runtime call and the
/// driver call inside), the one that returns first.
const ApiCall* call_of(const Work& work, const std::vector<const ApiCall*>& calls) {
  const ApiCall* found = nullptr;
  for (const ApiCall* call : calls)
    if (call->begin_ns <= work.begin_ns && (found == nullptr || call->begin_ns > found->begin_ns))
      found = call;
  return found;
}

const char* reason(Link link) {
  switch (link) {
    case Link::tied:
    case Link::no_operator:
      return "asked for outside of all operators";
    case Link::no_call:
      return "its call was not recorded";
    case Link::no_correlation:
      return "its record does not say who asked for it";
  }
  return "";
}

std::int64_t busy_ns(const std::vector<Work>& works) {
  std::vector<std::pair<std::int64_t, std::int64_t>> ranges;
  ranges.reserve(works.size());
  for (const Work& work : works) ranges.emplace_back(work.begin_ns, work.end_ns);
  std::ranges::sort(ranges);
  BusyTime busy;
  for (const auto& [begin, end] : ranges) busy.add(begin, end);
  return busy.ns();
}

auto key_of(const KernelRun& kernel) {
  return std::tie(kernel.node, kernel.phase, kernel.name, kernel.grid, kernel.block,
                  kernel.dynamic_shared_bytes, kernel.op);
}

KernelRun kernel_of(const Work& work, const Call* call) {
  return {.node = call == nullptr ? none : call->node,
          .phase = call == nullptr ? Phase::forward : call->phase,
          .op = call == nullptr ? "" : call->op,
          .name = work.name,
          .grid = work.grid,
          .block = work.block,
          .registers = work.registers,
          .static_shared_bytes = work.static_shared_bytes,
          .dynamic_shared_bytes = work.dynamic_shared_bytes,
          .bytes = work.bytes,
          .count = 1,
          .ns = work.end_ns - work.begin_ns};
}

/// Merges kernels that differ only in their time.
std::vector<KernelRun> folded(std::vector<KernelRun> kernels) {
  std::ranges::stable_sort(kernels,
                           [](const auto& a, const auto& b) { return key_of(a) < key_of(b); });
  std::vector<KernelRun> result;
  for (KernelRun& kernel : kernels) {
    if (result.empty() || key_of(result.back()) != key_of(kernel)) {
      result.push_back(std::move(kernel));
      continue;
    }
    result.back().count += kernel.count;
    result.back().ns += kernel.ns;
    result.back().bytes += kernel.bytes;
  }
  return result;
}

/// Sums unattributed times by name and reason.
class Loose {
 public:
  void add(const Work& work, const Origin& origin) {
    const std::string name = origin.call == nullptr ? work.name : origin.call->op;
    const Phase phase = origin.call == nullptr ? Phase::forward : origin.call->phase;
    sums_[{name, reason(origin.link)}].in(phase) += work.end_ns - work.begin_ns;
  }
  std::vector<Unattributed> take() {
    std::vector<Unattributed> result;
    result.reserve(sums_.size());
    for (const auto& [key, times] : sums_)
      result.push_back({.name = key.first, .why = key.second, .times = times});
    return result;
  }

 private:
  std::map<std::pair<std::string, std::string>, Times> sums_;
};

std::vector<std::int64_t> delays_of(const Records& records) {
  const ByCorrelation calls(records.calls);
  std::vector<std::int64_t> delays;
  delays.reserve(records.works.size());
  for (const Work& work : records.works)
    if (const ApiCall* call = call_of(work, calls.of(work.correlation)))
      delays.push_back(std::max<std::int64_t>(0, work.begin_ns - call->end_ns));
  std::ranges::sort(delays);
  return delays;
}

/// The median of a figure over the steps.
template <class Get>
std::int64_t median_over(const std::vector<Step>& steps, Get get) {
  std::vector<std::int64_t> values;
  values.reserve(steps.size());
  for (const Step& step : steps) values.push_back(get(step));
  return median(std::move(values));
}

/// A kernel counts as 0 in the steps that lack it.
std::vector<KernelRun> median_kernels(const std::vector<Step>& steps) {
  std::vector<KernelRun> all;
  for (const Step& step : steps) all.insert(all.end(), step.kernels.begin(), step.kernels.end());
  std::ranges::stable_sort(all, [](const auto& a, const auto& b) { return key_of(a) < key_of(b); });
  std::vector<KernelRun> result;
  for (std::size_t first = 0; first < all.size();) {
    std::size_t last = first;
    while (last < all.size() && key_of(all[last]) == key_of(all[first])) ++last;
    std::vector<std::int64_t> counts(steps.size()), times(steps.size());
    for (std::size_t i = first; i < last; ++i)
      counts[i - first] = all[i].count, times[i - first] = all[i].ns;
    KernelRun kernel = all[first];
    kernel.count = median(std::move(counts));
    kernel.ns = median(std::move(times));
    if (kernel.count > 0) result.push_back(std::move(kernel));
    first = last;
  }
  return result;
}

std::vector<Unattributed> median_unattributed(const std::vector<Step>& steps) {
  std::map<std::pair<std::string, std::string>, std::vector<Times>> all;
  for (std::size_t i = 0; i < steps.size(); ++i)
    for (const Unattributed& entry : steps[i].unattributed) {
      std::vector<Times>& times = all[{entry.name, entry.why}];
      times.resize(steps.size());
      times[i] = entry.times;
    }
  std::vector<Unattributed> result;
  for (const auto& [key, times] : all) {
    const Times middle = median_of(times);
    if (middle.total_ns() > 0)
      result.push_back({.name = key.first, .why = key.second, .times = middle});
  }
  std::ranges::stable_sort(result, std::greater(),
                           [](const Unattributed& entry) { return entry.times.total_ns(); });
  return result;
}

}  // namespace

std::vector<Origin> origins_of(const Records& records, const std::vector<Call>& calls,
                               std::uint64_t first_id) {
  const ByCorrelation ids(records.ids);
  const ByCorrelation api(records.calls);
  std::vector<Origin> result;
  result.reserve(records.works.size());
  for (const Work& work : records.works) {
    Origin& origin = result.emplace_back();
    if (work.correlation == 0) continue;
    const auto& found = ids.of(work.correlation);
    origin.link = api.of(work.correlation).empty() ? Link::no_call : Link::no_operator;
    if (found.empty() || found.back()->id < first_id || found.back()->id - first_id >= calls.size())
      continue;
    origin.call = &calls[found.back()->id - first_id];
    if (origin.call->node != none) origin.link = Link::tied;
  }
  return result;
}

Step summarize(const Records& records, const std::vector<Call>& calls, std::uint64_t first_id,
               std::size_t nodes) {
  const std::vector<Origin> origins = origins_of(records, calls, first_id);
  Step step{.nodes = std::vector<Times>(nodes),
            .works = static_cast<std::int64_t>(records.works.size()),
            .busy_ns = busy_ns(records.works),
            .delays_ns = delays_of(records),
            .dropped_records = records.dropped,
            .unreadable_records = records.unreadable};
  Loose loose;
  std::vector<KernelRun> kernels;
  kernels.reserve(records.works.size());
  for (std::size_t i = 0; i < records.works.size(); ++i) {
    const Work& work = records.works[i];
    const Origin& origin = origins[i];
    step.sum_ns += work.end_ns - work.begin_ns;
    if (origin.link == Link::tied)
      step.nodes.at(static_cast<std::size_t>(origin.call->node)).in(origin.call->phase) +=
          work.end_ns - work.begin_ns;
    else
      loose.add(work, origin);
    kernels.push_back(kernel_of(work, origin.call));
  }
  step.unattributed = loose.take();
  step.kernels = folded(std::move(kernels));
  if (!records.works.empty()) {
    const auto first = std::ranges::min(records.works, {}, &Work::begin_ns).begin_ns;
    step.span_ns = std::ranges::max(records.works, {}, &Work::end_ns).end_ns - first;
  }
  return step;
}

DeviceRun median_of(const std::vector<Step>& steps) {
  DeviceRun run{.kernels = median_kernels(steps),
                .unattributed = median_unattributed(steps),
                .works = median_over(steps, [](const Step& step) { return step.works; }),
                .sum_ns = median_over(steps, [](const Step& step) { return step.sum_ns; }),
                .busy_ns = median_over(steps, [](const Step& step) { return step.busy_ns; }),
                .span_ns = median_over(steps, [](const Step& step) { return step.span_ns; })};
  run.median_delay_ns = median_over(steps, [](const Step& step) { return median(step.delays_ns); });
  for (const Step& step : steps) {
    run.dropped_records += step.dropped_records;
    run.unreadable_records += step.unreadable_records;
  }
  return run;
}

}  // namespace symprof::measure::cupti
