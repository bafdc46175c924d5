// Execution order of nodes, which a file may list in any order.
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

/// Names that a node reads: its inputs and its subgraphs' captures, without empty names.
std::vector<std::string> names_read(const onnx::NodeProto& node);

/// The nodes in topological order; the file's order if valid. `is_defined`: true for names defined
/// before the first node. Throws Error for a name defined twice or not at all, and for a cycle,
/// listing its nodes.
std::vector<const onnx::NodeProto*> execution_order(
    const NodeList& nodes, const std::function<bool(const std::string&)>& is_defined,
    const std::string& path);

/// "node conv1 (Conv)", or "node number 3 (Conv)" for one without a name.
std::string describe(const onnx::NodeProto& node, std::size_t index);

}  // namespace symprof::trace
