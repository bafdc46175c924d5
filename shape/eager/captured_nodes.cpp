// Nodes of calls that a CUDA graph captures, and of its replays.
#include <ATen/ATen.h>

#include <algorithm>
#include <utility>

#include "shape/eager/program_nodes.h"

namespace symprof::shape {

// A capture runs nothing: its passes and updates count when it is replayed.
void ProgramNodes::begin_capture() {
  parts_.leave_pass();
  parts_.pause(true);
}

void ProgramNodes::end_capture() {
  parts_.pause(false);
  resume();
}

std::optional<NodeId> ProgramNodes::own_node(NodeId node) const {
  const std::optional<NodeId> place = parts_.own_place(node);
  return place ? std::optional(parts_.other() + *place) : std::nullopt;
}

NodeId ProgramNodes::repeat_node(NodeId node) {
  const NodeRecord before = record(node);
  const NodeId id = calls_.add(before.op, module_at(before.module, before.module_type));
  NodeRecord& made = record(id);
  made.inputs = before.inputs;
  made.outputs = before.outputs;
  made.parameters = before.parameters;
  made.input_gradient_bytes = before.input_gradient_bytes;
  made.upper_bound = before.upper_bound;
  made.source = before.source;
  if (std::ranges::binary_search(gradient_free_, node)) gradient_free_.push_back(id);
  return id;
}

}  // namespace symprof::shape
