#include "tests/support/recording_builder.h"

#include <algorithm>

namespace symprof::test {

TensorSpec tensor(Sizes sizes, DType dtype) {
  auto strides = contiguous_strides(sizes);
  return {dtype, std::move(sizes), std::move(strides), 0};
}

TestArgument t(Sizes sizes, DType dtype) { return {{tensor(std::move(sizes), dtype)}, {}}; }

TestArgument list(std::vector<Sizes> tensors) {
  TestArgument argument;
  for (Sizes& sizes : tensors) argument.tensors.push_back(tensor(std::move(sizes)));
  return argument;
}

TestArgument ints(std::vector<std::int64_t> values) { return {{}, std::move(values)}; }

TestArgument nothing() { return {}; }

NodeId RecordingBuilder::node(std::string name, NodeKind kind) {
  NodeRecord record;
  record.name = std::move(name);
  record.kind = kind;
  recording_.nodes.push_back(std::move(record));
  return static_cast<NodeId>(recording_.nodes.size()) - 1;
}

StorageId RecordingBuilder::storage(StorageRecord storage) {
  recording_.storages.push_back(storage);
  return static_cast<StorageId>(recording_.storages.size()) - 1;
}

std::int32_t RecordingBuilder::spec(const TensorSpec& spec) {
  recording_.specs.push_back(spec);
  return static_cast<std::int32_t>(recording_.specs.size()) - 1;
}

TensorRecord RecordingBuilder::fresh(const TensorSpec& shape, StorageRecord made) {
  made.bytes = shape.bytes();
  return {spec(shape), storage(made)};
}

TensorRecord RecordingBuilder::over(StorageId storage, const TensorSpec& shape) {
  return {spec(shape), storage};
}

std::int32_t RecordingBuilder::op(const std::string& name) {
  auto& ops = recording_.ops;
  const auto found = std::find(ops.begin(), ops.end(), name);
  if (found != ops.end()) return static_cast<std::int32_t>(found - ops.begin());
  ops.push_back(name);
  return static_cast<std::int32_t>(ops.size()) - 1;
}

CallId RecordingBuilder::call(const std::string& name, const std::vector<TestArgument>& arguments,
                              const std::vector<TensorSpec>& outputs, NodeId node, Phase phase) {
  CallRecord call{.op = op(name), .phase = phase, .node = node};
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto position = static_cast<std::uint8_t>(i);
    for (const TensorSpec& spec : arguments[i].tensors) {
      call.inputs.push_back(fresh(spec));
      call.input_positions.push_back(position);
    }
    for (std::int64_t value : arguments[i].integers) call.integers.push_back({position, value});
  }
  for (const TensorSpec& spec : outputs) call.outputs.push_back(fresh(spec));
  recording_.calls.push_back(std::move(call));
  return static_cast<CallId>(recording_.calls.size()) - 1;
}

CallId RecordingBuilder::call_on(const std::string& name, std::vector<TensorRecord> inputs,
                                 std::vector<TensorRecord> outputs, NodeId node, Phase phase) {
  CallRecord call{.op = op(name), .phase = phase, .node = node};
  call.inputs = std::move(inputs);
  for (std::size_t i = 0; i < call.inputs.size(); ++i)
    call.input_positions.push_back(static_cast<std::uint8_t>(i));
  call.outputs = std::move(outputs);
  recording_.calls.push_back(std::move(call));
  return static_cast<CallId>(recording_.calls.size()) - 1;
}

void RecordingBuilder::event(EventKind kind, StorageId storage, CallId call) {
  recording_.events.push_back({storage, call, kind});
}

}  // namespace symprof::test
