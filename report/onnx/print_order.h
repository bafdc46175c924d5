// The order and the indentation in which onnx-array-api prints nodes.
#pragma once

#include <string>
#include <unordered_set>
#include <vector>

#include "trace/onnx/order.h"

namespace symprof::report {

using trace::NodeList;

/// Indices of `nodes` in the order of reorder_nodes_for_display of
/// onnx_array_api/plotting/text_plot.py: first the ready node with the smallest operator and name,
/// then always the ready node that reads most outputs of the last one, ties in the file's order. A
/// node with subgraphs waits for the outer names that they use. Nodes of a cycle come last.
std::vector<int> print_order(const NodeList& nodes);

/// The level of each node, in that order, with the indentation of onnx_simple_text_plot. `given`:
/// the names of inputs and initializers.
std::vector<int> print_levels(const std::vector<const onnx::NodeProto*>& nodes,
                              const std::unordered_set<std::string>& given);

}  // namespace symprof::report
