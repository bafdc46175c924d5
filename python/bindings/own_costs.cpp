#include "python/bindings/own_costs.h"

namespace symprof::python {
namespace {

// A row of a table of rules is a function without state: this is the state of those below.
thread_local const AskCost* asked = nullptr;
thread_local std::vector<profile::Rule> rows;

AskedTensor asked_of(const TensorSpec& tensor) {
  return {tensor.sizes, std::string(name(tensor.dtype)), tensor.bytes()};
}

profile::Estimate ask_for(const profile::Call& call) {
  std::vector<AskedTensor> inputs, outputs;
  inputs.reserve(call.input_count());
  for (std::size_t i = 0; i < call.input_count(); ++i) inputs.push_back(asked_of(*call.input(i)));
  outputs.reserve(call.output_count());
  for (std::size_t i = 0; i < call.output_count(); ++i)
    if (const TensorSpec* output = call.output(i)) outputs.push_back(asked_of(*output));
  auto answer = (*asked)(std::string(call.op()), inputs, outputs);
  if (!answer) return std::nullopt;
  return Cost{.product_flops = (*answer)["product_flops"],
              .other_flops = (*answer)["other_flops"],
              .bytes_read = (*answer)["bytes_read"],
              .bytes_written = (*answer)["bytes_written"]};
}

profile::Rules own_rules() { return rows; }

}  // namespace

OwnCosts::OwnCosts(const std::vector<std::string>& operators, const AskCost& ask) {
  asked = &ask;
  rows.clear();
  rows.reserve(operators.size());
  for (const std::string& op : operators) rows.push_back({op, ask_for, profile::modelled});
  const profile::Family family[] = {{"own", own_rules}};
  table_.emplace(family);
}

OwnCosts::~OwnCosts() {
  asked = nullptr;
  rows.clear();
}

}  // namespace symprof::python
