#include "trace/torchscript/frame.h"

namespace symprof::trace::torchscript {

std::vector<c10::IValue> Frame::take_inputs(const torch::jit::Node& node) {
  std::vector<c10::IValue> inputs;
  inputs.reserve(node.inputs().size());
  for (const torch::jit::Value* input : node.inputs()) {
    const auto found = values_.find(input);
    inputs.push_back(found == values_.end() ? c10::IValue() : found->second);
  }
  for (const torch::jit::Value* value : locals_.taken_by(node)) values_.erase(value);
  return inputs;
}

void Frame::set(const torch::jit::Value* value, c10::IValue to) {
  if (const std::string_view name = locals_.name_of(*value); !name.empty()) bind(name, value, to);
  if (value->hasUses()) values_.insert_or_assign(value, std::move(to));
}

void Frame::finish(const torch::jit::Node& node) {
  for (const torch::jit::Value* value : locals_.done_with(node)) values_.erase(value);
}

void Frame::bind(std::string_view name, const torch::jit::Value* value, const c10::IValue& to) {
  variables_[name] = to;
  if (locals_.outlives_name(*value)) second_variables_[name] = to;
}

}  // namespace symprof::trace::torchscript
