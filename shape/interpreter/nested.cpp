#include "shape/interpreter/nested.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <map>
#include <string_view>

#include "base/error.h"
#include "shape/interpreter/nested_body.h"
#include "trace/graph/uses.h"

namespace symprof::shape {
namespace {

using c10::IValue;
using Values = std::vector<IValue>;

struct NestedCall {
  const Node& node;
  Values inputs;  ///< None for an omitted input.
  const Values& values;
  c10::Device device;
  const Recompute& recompute;
  Lifetimes lifetimes;

  const IValue& input(std::size_t index) const {
    static const IValue none;
    return index < inputs.size() ? inputs[index] : none;
  }
  bool has(std::size_t index) const { return !input(index).isNone(); }
  at::Tensor tensor(std::size_t index) const {
    if (!input(index).isTensor()) throw Error("", fmt::format("input {} is not a tensor", index));
    return input(index).toTensor();
  }
  std::vector<at::Tensor> sequence(std::size_t index) const {
    if (!input(index).isTensorList())
      throw Error("", fmt::format("input {} is not a sequence of tensors", index));
    return input(index).toTensorVector();
  }
  template <class T>
  const T* attribute(std::string_view name) const {
    return trace::argument_as<T>(trace::find_argument(node, name));
  }
};

/// Runs the graph of an attribute once.
Values run_attribute(const NestedCall& call, std::string_view attribute, Values inputs) {
  const auto* body = call.attribute<std::shared_ptr<const Graph>>(attribute);
  if (body == nullptr) throw Error("", fmt::format("no graph '{}'", attribute));
  const auto* captures =
      call.attribute<std::vector<ListElement>>(std::string(attribute) + ".captures");
  for (std::size_t i = 0; captures != nullptr && i < captures->size(); ++i) {
    const auto* ref = std::get_if<ValueRef>(&(*captures)[i]);
    inputs.push_back(ref == nullptr ? IValue() : call.values[static_cast<std::size_t>(ref->id)]);
  }
  return run_body(**body, std::move(inputs), call.device, call.recompute, call.lifetimes);
}

IValue to_list(const std::vector<at::Tensor>& tensors) { return c10::List<at::Tensor>(tensors); }

std::size_t position(const NestedCall& call, std::size_t index, std::size_t end) {
  const std::int64_t given = known_number(call.input(index), "the position in a sequence");
  const std::int64_t from_front = given < 0 ? given + static_cast<std::int64_t>(end) : given;
  if (from_front < 0 || from_front > static_cast<std::int64_t>(end))
    throw Error("", fmt::format("position {} of a sequence of {}", given, end));
  return static_cast<std::size_t>(from_front);
}

Values choose_branch(const NestedCall& call) {
  const bool chosen = known_number(call.input(0), "the condition") != 0;
  return run_attribute(call, chosen ? "then_branch" : "else_branch", {});
}

/// Inputs: the maximum trip count, the condition, the carried values. Outputs: the carried values,
/// then the scan outputs.
Values loop(const NestedCall& call) {
  const std::int64_t most =
      call.has(0) ? known_number(call.input(0), "how often a loop runs") : most_iterations;
  bool goes_on = !call.has(1) || known_number(call.input(1), "the condition") != 0;
  Values carried(call.inputs.begin() + 2, call.inputs.end());
  std::vector<std::vector<at::Tensor>> collected(call.node.outputs.size() - carried.size());
  for (std::int64_t i = 0; goes_on && i < most; ++i) {
    if (i == most_iterations - 1) throw Error("", "a loop that does not end");
    Values inputs{on_host(i, at::kLong), on_host(1, at::kBool)};
    inputs.insert(inputs.end(), carried.begin(), carried.end());
    const Values outputs = run_attribute(call, "body", std::move(inputs));
    goes_on = known_number(outputs.at(0), "the condition") != 0;
    for (std::size_t j = 0; j < carried.size(); ++j) carried[j] = outputs.at(1 + j);
    for (std::size_t j = 0; j < collected.size(); ++j)
      collected[j].push_back(outputs.at(1 + carried.size() + j).toTensor());
  }
  for (const auto& parts : collected) carried.emplace_back(joined(parts, 0));
  return carried;
}

std::int64_t entry(const NestedCall& call, std::string_view attribute, std::size_t index) {
  const auto* list = call.attribute<std::vector<std::int64_t>>(attribute);
  return list != nullptr && index < list->size() ? (*list)[index] : 0;
}

/// Since opset 9: states, then tensors that are scanned along an axis.
Values scan(const NestedCall& call) {
  const auto* count = call.attribute<std::int64_t>("num_scan_inputs");
  const std::size_t scanned = count == nullptr ? 0 : static_cast<std::size_t>(*count);
  if (scanned == 0 || scanned > call.inputs.size())
    throw Error("", fmt::format("{} scanned inputs of {}", scanned, call.inputs.size()));
  const std::size_t states = call.inputs.size() - scanned;
  if (states > call.node.outputs.size()) throw Error("", "fewer outputs than states");
  Values carried(call.inputs.begin(), call.inputs.begin() + static_cast<std::ptrdiff_t>(states));
  const std::int64_t steps = call.tensor(states).size(entry(call, "scan_input_axes", 0));
  std::vector<std::vector<at::Tensor>> collected(call.node.outputs.size() - states);
  for (std::int64_t i = 0; i < steps; ++i) {
    Values inputs = carried;
    for (std::size_t j = 0; j < scanned; ++j) {
      const bool backwards = entry(call, "scan_input_directions", j) == 1;
      inputs.emplace_back(
          call.tensor(states + j)
              .select(entry(call, "scan_input_axes", j), backwards ? steps - 1 - i : i));
    }
    const Values outputs = run_attribute(call, "body", std::move(inputs));
    for (std::size_t j = 0; j < states; ++j) carried[j] = outputs.at(j);
    for (std::size_t j = 0; j < collected.size(); ++j) {
      const bool backwards = entry(call, "scan_output_directions", j) == 1;
      collected[j].insert(backwards ? collected[j].begin() : collected[j].end(),
                          outputs.at(states + j).toTensor());
    }
  }
  for (std::size_t j = 0; j < collected.size(); ++j)
    carried.emplace_back(joined(collected[j], entry(call, "scan_output_axes", j)));
  return carried;
}

/// Opset 8: the sequence lengths come first; every other input has a batch dimension, whose
/// elements are scanned along their first axis.
Values scan_batch(const NestedCall& call) {
  if (call.has(0))
    throw Error("", "lengths of sequences, which opset 8 has, are not supported",
                "Scan whole sequences, or convert the model to opset 9 or later.");
  if (call.inputs.size() < 2) throw Error("", "no input to scan");
  const std::int64_t batch = call.tensor(1).size(0);
  std::vector<std::vector<at::Tensor>> results(call.node.outputs.size());
  for (std::int64_t i = 0; i < batch; ++i) {
    NestedCall element = call;
    element.inputs.clear();
    for (std::size_t j = 1; j < call.inputs.size(); ++j)
      element.inputs.emplace_back(call.tensor(j).select(0, i));
    const Values outputs = scan(element);
    for (std::size_t j = 0; j < results.size(); ++j) results[j].push_back(outputs.at(j).toTensor());
  }
  Values batches;
  for (const auto& parts : results) batches.emplace_back(joined(parts, 0));
  return batches;
}

/// Opset 8 has one more input than the body.
Values scan_as_written(const NestedCall& call) {
  const auto* body = call.attribute<std::shared_ptr<const Graph>>("body");
  const auto* captures = call.attribute<std::vector<ListElement>>("body.captures");
  const std::size_t captured = captures == nullptr ? 0 : captures->size();
  const bool is_batch =
      body != nullptr && call.inputs.size() + captured == (*body)->inputs.size() + 1;
  return is_batch ? scan_batch(call) : scan(call);
}

/// Runs the body for each element; tensor inputs are the same for all elements.
Values sequence_map(const NestedCall& call) {
  const std::size_t length = call.sequence(0).size();
  std::vector<std::vector<at::Tensor>> results(call.node.outputs.size());
  for (std::size_t i = 0; i < length; ++i) {
    Values inputs;
    for (std::size_t j = 0; j < call.inputs.size(); ++j)
      inputs.push_back(call.input(j).isTensorList() ? IValue(call.sequence(j).at(i))
                                                    : call.input(j));
    const Values outputs = run_attribute(call, "body", std::move(inputs));
    for (std::size_t j = 0; j < results.size(); ++j) results[j].push_back(outputs.at(j).toTensor());
  }
  Values lists;
  for (const auto& parts : results) lists.push_back(to_list(parts));
  return lists;
}

Values sequence_construct(const NestedCall& call) {
  std::vector<at::Tensor> parts;
  for (std::size_t i = 0; i < call.inputs.size(); ++i) parts.push_back(call.tensor(i));
  return {to_list(parts)};
}

Values sequence_empty(const NestedCall&) { return {to_list({})}; }

Values sequence_at(const NestedCall& call) {
  const auto parts = call.sequence(0);
  const std::size_t at = position(call, 1, parts.size());
  if (at >= parts.size()) throw Error("", fmt::format("no element {} of {}", at, parts.size()));
  return {parts[at]};
}

Values sequence_insert(const NestedCall& call) {
  auto parts = call.sequence(0);
  const std::size_t at = call.has(2) ? position(call, 2, parts.size()) : parts.size();
  parts.insert(parts.begin() + static_cast<std::ptrdiff_t>(at), call.tensor(1));
  return {to_list(parts)};
}

Values sequence_erase(const NestedCall& call) {
  auto parts = call.sequence(0);
  if (parts.empty()) throw Error("", "the sequence is empty");
  const std::size_t at = call.has(1) ? position(call, 1, parts.size()) : parts.size() - 1;
  if (at >= parts.size()) throw Error("", fmt::format("no element {} of {}", at, parts.size()));
  parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(at));
  return {to_list(parts)};
}

Values sequence_length(const NestedCall& call) {
  return {on_host(static_cast<std::int64_t>(call.sequence(0).size()), at::kLong)};
}

Values same(const NestedCall& call) { return {call.input(0)}; }

Values optional_element(const NestedCall& call) {
  if (!call.has(0)) throw Error("", "the optional is empty");
  return {call.input(0)};
}

Values has_element(const NestedCall& call) { return {on_host(call.has(0) ? 1 : 0, at::kBool)}; }

using NestedFunction = Values (*)(const NestedCall&);

const std::map<std::string_view, NestedFunction> nested_functions = {
    {"onnx::If", choose_branch},
    {"onnx::Loop", loop},
    {"onnx::Optional", same},
    {"onnx::OptionalGetElement", optional_element},
    {"onnx::OptionalHasElement", has_element},
    {"onnx::Scan", scan_as_written},
    {"onnx::SequenceAt", sequence_at},
    {"onnx::SequenceConstruct", sequence_construct},
    {"onnx::SequenceEmpty", sequence_empty},
    {"onnx::SequenceErase", sequence_erase},
    {"onnx::SequenceInsert", sequence_insert},
    {"onnx::SequenceLength", sequence_length},
    {"onnx::SequenceMap", sequence_map},
};

}  // namespace

bool is_nested_operator(std::string_view op) { return nested_functions.contains(op); }

std::optional<Values> run_nested(const Node& node, const Values& values, c10::Device device,
                                 const Recompute& recompute, Lifetimes lifetimes) {
  const auto found = nested_functions.find(node.op);
  const bool is_identity = node.op == "onnx::Identity";
  if (found == nested_functions.end() && !is_identity) return std::nullopt;
  NestedCall call{node, {}, values, device, recompute, lifetimes};
  for (const Argument& argument : node.arguments) {
    if (!argument.name.empty()) continue;
    const auto* ref = std::get_if<ValueRef>(&argument.value);
    const bool given = ref != nullptr && ref->id != no_value;
    call.inputs.push_back(given ? values[static_cast<std::size_t>(ref->id)] : IValue());
  }
  if (is_identity && call.input(0).isTensor()) return std::nullopt;
  if (node.op == "onnx::Loop" &&
      (call.inputs.size() < 2 || node.outputs.size() + 2 < call.inputs.size()))
    throw Error("",
                fmt::format("{} inputs and {} outputs", call.inputs.size(), node.outputs.size()));
  return is_identity ? same(call) : found->second(call);
}

}  // namespace symprof::shape
