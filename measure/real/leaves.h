// Inputs, weights and constants of a graph as real tensors.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "trace/graph/graph.h"

namespace symprof::measure::real {

/// By ValueId: exclusive upper bound of an integer input. For an index into a table, the table's
/// length; 2 if unknown.
std::vector<std::int64_t> bounds_of_inputs(const Graph& graph);

/// A tensor for the value on `device`: its data if the file has it, else random numbers that keep a
/// deep model's activations in range. Throws Error if the graph lacks the shape.
at::Tensor leaf(const Graph& graph, const Value& value, std::int64_t bound, c10::Device device);

/// Fills a parameter with random numbers as leaf() does.
void draw(const at::Tensor& parameter);

}  // namespace symprof::measure::real
