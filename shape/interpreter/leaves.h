// What a graph has before its nodes run, as tensors.
#pragma once

#include "trace/graph/graph.h"

namespace symprof::shape {

/// True for a constant that is a real tensor on the host: ONNX computes shapes with tensors, so its
/// integers, and scalars, have values.
bool stays_real(const Graph& graph, const Value& value);

/// The geometry of an input or a weight. Throws Error where the graph does not say it.
const TensorSpec& spec_of_leaf(const Graph& graph, const Value& value);

}  // namespace symprof::shape
