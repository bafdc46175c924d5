// Blocks that a graph repeats consecutively: the layers of a transformer.
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
  std::vector<RepeatedBlock> inside;  ///< Within its first copy; indices of the whole graph.
};

/// The nodes of a graph without Constants, in the file's order: the numbering of `first`.
std::vector<const onnx::NodeProto*> nodes_in_order(const onnx::GraphProto& graph);

/// The repetitions in `nodes`, in order. Nodes are equal if their operators and attributes are, and
/// if their operands come from the same relative or absolute node, or from no node; the first copy
/// may read from anywhere what later copies read from the previous one. Among overlapping
/// repetitions the one that leaves the fewest nodes wins.
std::vector<RepeatedBlock> repeated_blocks(const std::vector<const onnx::NodeProto*>& nodes);

}  // namespace symprof::workbench
