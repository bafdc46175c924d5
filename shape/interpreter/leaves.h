// The tensors of a graph before its nodes run.
#pragma once

#include <vector>

#include "trace/graph/graph.h"

namespace symprof::shape {

/// True for a constant that is a real tensor on the host: ONNX computes shapes with tensors, so its
/// integers, and scalars, have values.
bool stays_real(const Graph& graph, const Value& value);

/// By value: true for a constant that is written in the code, as in `x[:, [0, 2]]` or
/// `torch.tensor([1.0], device=x.device)`: an export copies it with `lift_fresh_copy` at each use,
/// also in a recomputed module. Python makes it on the host; only the copy is on the device.
std::vector<bool> numbers_of_code(const Graph& graph);

/// The spec of an input or a weight. Throws Error if the graph does not contain it.
const TensorSpec& spec_of_leaf(const Graph& graph, const Value& value);

}  // namespace symprof::shape
