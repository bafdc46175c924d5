// Execution order of nodes that a file may give in any order.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace google::protobuf {
template <class T>
class RepeatedPtrField;
}
namespace onnx {
class GraphProto;
class NodeProto;
}  // namespace onnx

namespace symprof::trace {

using NodeList = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

/// Names that `graph` (a subgraph attribute) reads and does not define, each once, in order.
std::vector<std::string> captured_names(const onnx::GraphProto& graph);

/// What a node reads: its inputs and what its subgraphs capture; empty names left out.
std::vector<std::string> names_read(const onnx::NodeProto& node);

/// The nodes in an order in which every name is defined before it is read; the file's order where
/// that does. `is_defined` tells the names that are there before the first node. Throws Error for a
/// name that two nodes define or nothing defines, and for a cycle, whose nodes it lists.
std::vector<const onnx::NodeProto*> execution_order(
    const NodeList& nodes, const std::function<bool(const std::string&)>& is_defined,
    const std::string& path);

/// "node conv1 (Conv)", or "node number 3 (Conv)" for one without a name.
std::string describe(const onnx::NodeProto& node, std::size_t index);

}  // namespace symprof::trace
