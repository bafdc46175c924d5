// Bodies of If, Loop and Scan as models of their own, so that what changes a main graph changes
// them.
#pragma once

#include <onnx/onnx_pb.h>

#include <functional>
#include <string>
#include <unordered_set>

namespace symprof::workbench {

using NameSet = std::unordered_set<std::string>;

/// Names that the subgraphs of a graph's nodes have: around them no new value may have one.
NameSet names_in_subgraphs(const onnx::GraphProto& graph);
/// Names of the graph's values, those of its subgraphs too.
void add_names(const onnx::GraphProto& graph, NameSet& names);

/// Calls `change` with each subgraph of the main graph, inner ones last, as the graph of a model:
/// what it reads from around it are inputs there, or initializers where they are constants. What
/// `change` leaves of the graph is put back, and operator sets that it imported are the model's.
void for_each_subgraph(onnx::ModelProto& model,
                       const std::function<void(onnx::ModelProto& part)>& change);

}  // namespace symprof::workbench
