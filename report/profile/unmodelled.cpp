#include "report/profile/unmodelled.h"

namespace symprof::report {

UnmodelledCalls unmodelled_calls(const NodeProfile& node, const Recording& recording) {
  UnmodelledCalls missing;
  for (const CallProfile& call : node.calls) {
    if (call.cost.confidence != Confidence::unmodelled) continue;
    const Phase phase = recording.calls[call.call].phase;
    ++(is_in_backward(phase)       ? missing.backward
       : phase == Phase::optimizer ? missing.optimizer
                                   : missing.forward);
  }
  return missing;
}

std::int64_t unmodelled(const UnmodelledCalls& calls, const profile::Figure& figure) {
  switch (figure.calls) {
    case profile::CallsOf::none:
      return 0;
    case profile::CallsOf::forward:
      return calls.forward;
    case profile::CallsOf::backward:
    case profile::CallsOf::recompute:
      return calls.backward;
    case profile::CallsOf::optimizer:
      return calls.optimizer;
  }
  return 0;
}

}  // namespace symprof::report
