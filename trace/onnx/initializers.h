// Classifies initializers as parameter, buffer or constant (the rules are in reader.h).
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "trace/graph/graph.h"

namespace onnx {
class ModelProto;
}

namespace symprof::trace {

/// Elements up to which an integer tensor keeps its data (positions, axes, shapes) …
constexpr std::int64_t largest_integer_constant = 4096;
/// … and a floating-point one (scales, bounds, sizes of a resize).
constexpr std::int64_t largest_real_constant = 16;

/// The dynamo exporter's signature by name; empty if the file has none.
struct Signature {
  std::unordered_map<std::string, ValueKind> kinds;      ///< By path: "conv.weight".
  std::unordered_map<std::string, std::string> targets;  ///< Paths by placeholder: "p_conv_weight".
  std::vector<std::string> parameters;                   ///< Paths, in the file's order.
};

/// Reads the signature in the metadata of the model's graph.
Signature find_signature(const onnx::ModelProto& model);

/// The `initializers` that a node reads.
std::vector<ValueId> read_initializers(const Graph& graph,
                                       const std::vector<ValueId>& initializers);

/// Removes initializers that were `read` but are now unused from the graph and `initializers`:
/// masks, scales and second copies of weights replaced by restored call arguments.
void drop_unread(Graph& graph, const std::vector<ValueId>& read,
                 std::vector<ValueId>& initializers);

/// Sets the kinds of `initializers` of `graph` (nodes must be complete), and drops data not needed
/// for shape arithmetic. `names_all`: each parameter of the signature has an initializer with its
/// name, so no other initializer is a parameter.
void classify_initializers(Graph& graph, const std::vector<ValueId>& initializers,
                           const Signature& signature, bool names_all);

}  // namespace symprof::trace
