// Bodies of If, Loop and Scan as separate models, so that the rules of a main graph apply to them.
#pragma once

#include <onnx/onnx_pb.h>

#include <functional>
#include <string>
#include <unordered_set>

namespace symprof::workbench {

using NameSet = std::unordered_set<std::string>;

/// Names in the subgraphs of a graph's nodes: new outer values must not reuse them.
NameSet names_in_subgraphs(const onnx::GraphProto& graph);
/// Names of the graph's values, including its subgraphs.
void add_names(const onnx::GraphProto& graph, NameSet& names);

/// Calls `change` with each subgraph of the main graph, inner ones last, as the graph of a model:
/// outer values become inputs, or initializers where they are constants. The changed graph replaces
/// the subgraph, and its imported operator sets are added to the model.
void for_each_subgraph(onnx::ModelProto& model,
                       const std::function<void(onnx::ModelProto& part)>& change);

}  // namespace symprof::workbench
