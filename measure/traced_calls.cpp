#include "measure/traced_calls.h"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace symprof::measure {
namespace calls_of_trace {
namespace {

double us_of(const Activity& activity) {
  return static_cast<double>(activity.duration_ns()) / 1000;
}

/// cuBLAS's and cuDNN's kernels on TF32 tensor cores name the type, or the shape of its instruction
/// (s1688: 16 x 8 x 8 in fp32).
bool is_of_tf32(std::string_view kernel) {
  return kernel.find("tf32") != std::string_view::npos ||
         kernel.find("s1688gemm") != std::string_view::npos ||
         kernel.find("s1688fprop") != std::string_view::npos;
}

/// By activity: another one of the same device runs meanwhile.
std::vector<bool> overlaps(const std::vector<Activity>& activities) {
  std::vector<bool> result(activities.size());
  std::map<std::int64_t, std::size_t> last;  // By device: the activity that ends last.
  for (std::size_t i = 0; i < activities.size(); ++i) {
    const auto [at, is_first] = last.try_emplace(activities[i].device, i);
    if (is_first) continue;
    if (activities[at->second].end_ns > activities[i].begin_ns)
      result[i] = result[at->second] = true;
    if (activities[i].end_ns > activities[at->second].end_ns) at->second = i;
  }
  return result;
}

using HasRule = std::function<bool(std::string_view)>;

OperatorId outermost(const Trace& trace, OperatorId from, const HasRule& has_rule) {
  OperatorId found = none;
  for (OperatorId id = from; id != none;) {
    const Operator& op = trace.operators[static_cast<std::size_t>(id)];
    if (op.kind == Operator::Kind::op && has_rule(op.name)) found = id;
    id = op.parent;
  }
  return found;
}

/// The kernels of one call in the trace.
struct Instance {
  double us = 0;
  bool is_overlapped = false, uses_tf32 = false;
};

using Instances = std::map<OperatorId, Instance>;

/// The time of kernels that belong to none goes to `time`.
Instances instances_of(const Trace& trace, const HasRule& has_rule, TracedTime& time) {
  Instances instances;
  const std::vector<bool> is_overlapped = overlaps(trace.activities);
  for (std::size_t i = 0; i < trace.activities.size(); ++i) {
    const Activity& activity = trace.activities[i];
    const double us = us_of(activity);
    time.total += us;
    const OperatorId id = outermost(trace, activity.op, has_rule);
    if (activity.from_graph || id == none) {
      (activity.from_graph ? time.graph : time.no_operator) += us;
      continue;
    }
    Instance& instance = instances[id];
    instance.us += us;
    if (is_overlapped[i]) instance.is_overlapped = true;
    if (is_of_tf32(activity.name)) instance.uses_tf32 = true;
  }
  return instances;
}

}  // namespace
}  // namespace calls_of_trace

TracedCalls traced_calls(const Trace& trace,
                         const std::function<bool(std::string_view op)>& has_rule) {
  TracedCalls result;
  std::map<std::pair<OperatorCall, bool>, std::size_t> known;
  for (const auto& [id, instance] : calls_of_trace::instances_of(trace, has_rule, result.time)) {
    const Operator& op = trace.operators[static_cast<std::size_t>(id)];
    if (op.arguments == none) {
      result.time.no_arguments += instance.us;
      continue;
    }
    if (instance.is_overlapped) {
      result.time.overlapped += instance.us;
      continue;
    }
    OperatorCall call{op.name, trace.arguments[static_cast<std::size_t>(op.arguments)]};
    const auto [at, is_new] = known.try_emplace({call, instance.uses_tf32}, result.calls.size());
    if (is_new) result.calls.push_back({std::move(call), {}, instance.uses_tf32});
    result.calls[at->second].us.push_back(instance.us);
  }
  return result;
}

}  // namespace symprof::measure
