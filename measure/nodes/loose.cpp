#include "measure/nodes/loose.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

namespace symprof::measure::nodes {
namespace {

/// When the graphs of a step were launched, in order.
std::vector<std::int64_t> graph_launches(const StepOfTrace& step) {
  std::set<std::int64_t> launches;
  for (const Work& work : step.work)
    if (work.activity != nullptr && work.activity->from_graph)
      launches.insert(work.activity->graph_launch_ns);
  return {launches.begin(), launches.end()};
}

std::string reason(const Trace& trace, const Work& work,
                   const std::vector<std::int64_t>& launches) {
  if (work.activity != nullptr && work.activity->from_graph)
    return fmt::format(
        "replayed in graph launch {} of the step, without the operators of its capture",
        std::ranges::upper_bound(launches, work.activity->graph_launch_ns) - launches.begin());
  if (work.activity != nullptr) switch (work.activity->link) {
      case Activity::Link::no_correlation:
        return "the record has no correlation id";
      case Activity::Link::no_call:
        return "its call was not recorded";
      case Activity::Link::no_operator:
        return "its call stood outside of all operators";
      case Activity::Link::tied:
        break;
    }
  if (work.phase == Phase::optimizer) return "the profiled step has no optimizer";
  return trace.operators.empty() ? "" : "its operator is no node of the model";
}

}  // namespace

void Loose::begin(const StepOfTrace& step) { launches_ = graph_launches(step); }

void Loose::add(const Trace& trace, const Work& work) {
  const OperatorId op = named_operator(trace, work.op);
  const std::string& name =
      op != none ? trace.operators[static_cast<std::size_t>(op)].name : work.activity->name;
  Unattributed& entry = entries_[{name, reason(trace, work, launches_)}];
  entry.times.in(work.phase) += work.ns;
}

std::vector<Unattributed> Loose::take(std::int64_t steps) {
  std::vector<Unattributed> result;
  result.reserve(entries_.size());
  for (auto& [key, entry] : entries_)
    result.push_back({.name = key.first,
                      .why = key.second,
                      .times = {.forward_ns = entry.times.forward_ns / steps,
                                .backward_ns = entry.times.backward_ns / steps,
                                .optimizer_ns = entry.times.optimizer_ns / steps}});
  std::ranges::stable_sort(result, std::greater(),
                           [](const Unattributed& a) { return a.times.total_ns(); });
  return result;
}

}  // namespace symprof::measure::nodes
