#include "measure/nodes/work.h"

#include <algorithm>
#include <limits>

namespace symprof::measure::nodes {
namespace {

/// On the CPU: self times of operators.
std::vector<Work> host_work(const Trace& trace) {
  std::vector<std::int64_t> own;
  own.reserve(trace.operators.size());
  for (const Operator& op : trace.operators) own.push_back(op.end_ns - op.begin_ns);
  for (const Operator& op : trace.operators) {
    if (op.kind != Operator::Kind::op) continue;
    OperatorId outer = op.parent;
    while (outer != none &&
           trace.operators[static_cast<std::size_t>(outer)].kind != Operator::Kind::op)
      outer = trace.operators[static_cast<std::size_t>(outer)].parent;
    if (outer != none) own[static_cast<std::size_t>(outer)] -= op.end_ns - op.begin_ns;
  }
  std::vector<Work> work;
  work.reserve(trace.operators.size());
  for (std::size_t i = 0; i < trace.operators.size(); ++i)
    if (trace.operators[i].kind == Operator::Kind::op && own[i] > 0)
      work.push_back(
          {.op = static_cast<OperatorId>(i), .phase = trace.operators[i].phase, .ns = own[i]});
  return work;
}

std::vector<Work> device_work(const Trace& trace) {
  std::vector<Work> work;
  work.reserve(trace.activities.size());
  for (const Activity& activity : trace.activities)
    work.push_back({.op = activity.op,
                    .activity = &activity,
                    .phase = activity.phase,
                    .ns = activity.duration_ns()});
  return work;
}

/// Host time of the launch; work without an operator uses the device's clock.
std::int64_t asked_at(const Trace& trace, const Work& work) {
  if (work.op != none) return trace.operators[static_cast<std::size_t>(work.op)].begin_ns;
  return work.activity->begin_ns;
}

}  // namespace

std::vector<StepOfTrace> steps_of(const Trace& trace) {
  constexpr auto forever = std::numeric_limits<std::int64_t>::max();
  std::vector<StepOfTrace> steps;
  for (const OperatorId id : trace.steps) {
    const Operator& step = trace.operators[static_cast<std::size_t>(id)];
    steps.push_back({.begin_ns = step.begin_ns, .end_ns = step.end_ns, .work = {}});
  }
  std::int64_t begin = -forever;
  for (const OperatorId id : trace.updates) {
    const std::int64_t end = trace.operators[static_cast<std::size_t>(id)].end_ns;
    steps.push_back({.begin_ns = begin, .end_ns = end, .work = {}});
    begin = end + 1;
  }
  if (steps.empty()) steps.push_back({.begin_ns = begin, .end_ns = forever, .work = {}});
  // Work launched between two steps belongs to neither, but the device's queue lags: a kernel
  // without an operator counts until the next step.
  for (const Work& work : trace.activities.empty() ? host_work(trace) : device_work(trace)) {
    const std::int64_t at = asked_at(trace, work);
    const auto after = std::ranges::upper_bound(steps, at, {}, &StepOfTrace::begin_ns);
    if (after == steps.begin()) continue;
    StepOfTrace& step = *std::prev(after);
    if (at <= step.end_ns || work.op == none) step.work.push_back(work);
  }
  return steps;
}

}  // namespace symprof::measure::nodes
