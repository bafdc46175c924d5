// Blocks that a graph repeats, one copy after the other: the layers of a transformer.
#pragma once

#include <vector>

namespace onnx {
class GraphProto;
class NodeProto;
}  // namespace onnx

namespace symprof::workbench {

/// `times` copies of `length` nodes each, from the node at `first` on.
struct RepeatedBlock {
  int first = 0, length = 0, times = 0;
  std::vector<RepeatedBlock> inside;  ///< Of its first copy; indices count as those of the block.
};

/// The nodes of a graph without Constants, in the file's order: what `first` counts.
std::vector<const onnx::NodeProto*> nodes_in_order(const onnx::GraphProto& graph);

/// Repetitions in `nodes`, in order. Nodes are equal where their operators and attributes are, and
/// where what they read was made as far before, by the same node, or is no node's; the first copy
/// may read from anywhere what the others read from the copy before them. Of overlapping
/// repetitions the one that leaves the fewest nodes stays.
std::vector<RepeatedBlock> repeated_blocks(const std::vector<const onnx::NodeProto*>& nodes);

}  // namespace symprof::workbench
