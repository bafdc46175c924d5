// ONNX operators on sequences, optionals and nested graphs, which run as often as the model says. A
// sequence is a list of tensors; an empty optional is None, a filled one is its value.
#pragma once

#include <ATen/core/ivalue.h>
#include <c10/core/Device.h>

#include <optional>
#include <string_view>
#include <vector>

#include "record/lifetimes.h"
#include "shape/interpreter/recompute.h"
#include "trace/graph/graph.h"

namespace symprof::shape {

/// The results of `node` if it is If, Loop, Scan, SequenceMap, or an operator on sequences or
/// optionals; empty for all others. `values` are the values of the graph that contains the node.
/// The chosen branch and the trip count are read from real tensors. Throws Error if they depend on
/// data.
std::optional<std::vector<c10::IValue>> run_nested(const Node& node,
                                                   const std::vector<c10::IValue>& values,
                                                   c10::Device device, const Recompute& recompute,
                                                   Lifetimes lifetimes);

/// True for an operator that run_nested runs.
bool is_nested_operator(std::string_view op);

}  // namespace symprof::shape
