#include "measure/trace.h"

#include "base/text.h"
#include "measure/busy_time.h"

namespace symprof::measure {

bool names_autograd_node(std::string_view name) {
  if (name.starts_with("autograd::engine::evaluate_function") || name.ends_with("AccumulateGrad"))
    return true;
  if (name.find("::") != std::string_view::npos) return name.starts_with("torch::autograd::");
  while (!name.empty() && is_digit(name.back())) name.remove_suffix(1);
  return name.ends_with("Backward");  // Without a number until PyTorch 1.9.
}

OperatorId named_operator(const Trace& trace, OperatorId from) {
  OperatorId innermost = none;
  for (OperatorId id = from; id != none;) {
    const Operator& op = trace.operators[static_cast<std::size_t>(id)];
    if (op.kind == Operator::Kind::op) {
      if (innermost == none) innermost = id;
      if (op.name.find("::") != std::string::npos && !op.name.starts_with("autograd::")) return id;
    }
    id = op.parent;
  }
  return innermost;
}

std::int64_t busy_ns(const std::vector<const Activity*>& activities) {
  BusyTime busy;
  for (const Activity* activity : activities) busy.add(activity->begin_ns, activity->end_ns);
  return busy.ns();
}

std::int64_t busy_ns(const Trace& trace) {
  std::vector<const Activity*> activities;
  activities.reserve(trace.activities.size());
  for (const Activity& activity : trace.activities) activities.push_back(&activity);
  return busy_ns(activities);
}

}  // namespace symprof::measure
