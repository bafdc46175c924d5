#include "python/bindings/own_costs.h"

#include "profile/cost/time/launches.h"

namespace symprof::python {
namespace {

// State of the rules below, as a row of a rule table is a stateless function.
thread_local const AskCost* asked = nullptr;
thread_local std::vector<profile::Rule> rows;

AskedTensor asked_of(const TensorSpec& tensor) {
  return {tensor.sizes, std::string(name(tensor.dtype)), tensor.bytes()};
}

profile::Estimate ask_for(const profile::Call& call) {
  const CallRecord& record = call.record();
  std::vector<AskedTensor> inputs, outputs;
  std::vector<std::int64_t> positions;
  std::vector<AskedInteger> integers;
  for (std::size_t i = 0; i < record.inputs.size(); ++i) {
    const TensorSpec* input = call.spec(record.inputs[i]);
    if (input == nullptr) continue;
    inputs.push_back(asked_of(*input));
    positions.push_back(record.input_positions[i]);
  }
  for (std::size_t i = 0; i < call.output_count(); ++i)
    if (const TensorSpec* output = call.output(i)) outputs.push_back(asked_of(*output));
  for (const IntegerArgument& integer : record.integers)
    integers.emplace_back(integer.position, integer.value);
  auto answer = (*asked)(std::string(call.op()), inputs, outputs, positions, integers);
  if (!answer) return std::nullopt;
  return Cost{.product_flops = (*answer)["product_flops"],
              .other_flops = (*answer)["other_flops"],
              .bytes_read = (*answer)["bytes_read"],
              .bytes_written = (*answer)["bytes_written"]};
}

profile::Rules own_rules() { return rows; }

/// No estimate for a matrix product kernel: it takes longer than its bytes, and there is no formula
/// for it.
profile::LaunchEstimate own_launches(const profile::Call&, const Cost& cost, const DeviceSpec&) {
  if (cost.product_flops > 0) return std::nullopt;
  profile::LaunchEstimate launches = profile::moved(cost, profile::TimeClass::elementwise);
  if (launches) launches->is_rough = true;
  return launches;
}

profile::TimeRules own_times() { return {own_launches, {}}; }

}  // namespace

OwnCosts::OwnCosts(const std::vector<std::string>& operators, const AskCost& ask) {
  asked = &ask;
  rows.clear();
  rows.reserve(operators.size());
  for (const std::string& op : operators) rows.push_back({op, ask_for, profile::modelled});
  const profile::Family family[] = {{"own", own_rules, nullptr, own_times}};
  table_.emplace(family);
}

OwnCosts::~OwnCosts() {
  asked = nullptr;
  rows.clear();
}

}  // namespace symprof::python
