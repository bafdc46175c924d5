// What a graph has before its nodes run, as tensors.
#pragma once

#include <vector>

#include "trace/graph/graph.h"

namespace symprof::shape {

/// True for a constant that is a real tensor on the host: ONNX computes shapes with tensors, so its
/// integers, and scalars, have values.
bool stays_real(const Graph& graph, const Value& value);

/// By value: whether it is a constant of numbers that the code writes down, as
/// `x[:, [0, 2]]` and `torch.tensor([1.0], device=x.device)` do: an export copies it with
/// `lift_fresh_copy` wherever it is used, in a module that runs again in backward, too. Python
/// makes it on the host; the copy alone is the device's.
std::vector<bool> numbers_of_code(const Graph& graph);

/// The geometry of an input or a weight. Throws Error where the graph does not say it.
const TensorSpec& spec_of_leaf(const Graph& graph, const Value& value);

}  // namespace symprof::shape
