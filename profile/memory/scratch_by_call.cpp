#include "profile/memory/scratch_by_call.h"

#include <range/v3/range/conversion.hpp>
#include <range/v3/view/transform.hpp>
#include <string>

namespace symprof::profile {

std::vector<Scratch> scratch_by_call(const Recording& recording, const DeviceSpec& device,
                                     const OperatorTable* own) {
  const auto rule_of = [&](const std::string& op) {
    const Operator rules = find_operator(op, own);
    const bool is_unknown = rules.flops == nullptr && rules.scratch == nullptr;
    return is_unknown ? &scratch_without_rule : rules.scratch;
  };
  const auto rules = recording.ops | ranges::views::transform(rule_of) | ranges::to<std::vector>();
  std::vector<Scratch> needed(recording.calls.size());
  for (std::size_t i = 0; i < needed.size(); ++i) {
    const CallRecord& call = recording.calls[i];
    if (const ScratchFunction rule = rules[static_cast<std::size_t>(call.op)])
      needed[i] = rule(Call(recording, call), device);
  }
  return needed;
}

}  // namespace symprof::profile
