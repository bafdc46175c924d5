#include "profile/call_kernels.h"

#include "profile/call_cost.h"
#include "profile/operators/operators.h"

namespace symprof::profile {

std::vector<LaunchEstimate> kernels_of(const Recording& recording, const DeviceSpec& device,
                                       const OperatorTable* own) {
  std::vector<Operator> rules;
  rules.reserve(recording.ops.size());
  for (const std::string& op : recording.ops) rules.push_back(find_operator(op, own));
  std::vector<LaunchEstimate> kernels;
  kernels.reserve(recording.calls.size());
  for (const CallRecord& record : recording.calls) {
    const Operator& rule = rules[static_cast<std::size_t>(record.op)];
    if (is_captured(record.stream)) {
      kernels.emplace_back(Launches{});
      continue;
    }
    if (rule.launches == nullptr) {
      kernels.emplace_back();
      continue;
    }
    const Cost cost = cost_of(recording, record, rule.flops);
    kernels.push_back(rule.launches(Call(recording, record), cost, device));
  }
  return kernels;
}

}  // namespace symprof::profile
