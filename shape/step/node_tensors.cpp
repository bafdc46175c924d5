#include "shape/step/node_tensors.h"

#include <algorithm>

#include "meta/fake/fake_tensor.h"

namespace symprof::shape {
namespace {

NodeRecord& record_of(NodeId node, Recorder& recorder) {
  return recorder.recording().nodes[static_cast<std::size_t>(node)];
}

}  // namespace

void add_node_input(NodeId node, const at::Tensor& tensor, Recorder& recorder) {
  NodeRecord& record = record_of(node, recorder);
  const meta::SeenTensor seen = meta::seen(tensor, recorder);
  const auto same = [&](const TensorRecord& other) {
    return other.spec == seen.spec && other.storage == seen.storage;
  };
  const bool is_first_use = std::ranges::none_of(record.inputs, same);
  record.inputs.push_back({seen.spec, seen.storage});
  if (seen.storage == none || !is_first_use) return;
  if (recorder.recording().storages[static_cast<std::size_t>(seen.storage)].kind ==
      StorageKind::parameter) {
    if (std::ranges::find(record.parameters, seen.storage) == record.parameters.end())
      record.parameters.push_back(seen.storage);
    recorder.claim_parameter(seen.storage, node);
  } else if (tensor.requires_grad()) {
    record.input_gradient_bytes += static_cast<std::int64_t>(tensor.nbytes());
  }
}

void add_node_output(NodeId node, const at::Tensor& tensor, Recorder& recorder) {
  const meta::SeenTensor seen = meta::seen(tensor, recorder);
  record_of(node, recorder).outputs.push_back({seen.spec, seen.storage});
}

NodeId add_closing_nodes(Recording& recording) {
  const auto first = static_cast<NodeId>(recording.nodes.size());
  recording.nodes.push_back({.name = "output", .op = "output", .kind = NodeKind::output});
  recording.nodes.push_back({.name = "loss", .op = "loss", .kind = NodeKind::loss});
  recording.nodes.push_back({.name = "optimizer", .op = "optimizer", .kind = NodeKind::optimizer});
  return first;
}

void finish_output_node(NodeId node, const std::vector<at::Tensor>& outputs, Recorder& recorder) {
  recorder.mark_sequence(node);
  recorder.enter(Phase::forward, node);
  NodeRecord& record = record_of(node, recorder);
  for (const at::Tensor& tensor : outputs) {
    const meta::SeenTensor seen = meta::seen(tensor, recorder);
    record.inputs.push_back({seen.spec, seen.storage});
    if (tensor.requires_grad())
      record.input_gradient_bytes += static_cast<std::int64_t>(tensor.nbytes());
  }
}

}  // namespace symprof::shape
