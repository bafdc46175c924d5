// What a graph has before its nodes run, as real tensors.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "trace/graph/graph.h"

namespace symprof::measure::real {

/// By ValueId: the numbers that an input of whole numbers may have lie below it. An index into a
/// table is below the table's length; 2 where nothing says how large numbers may be.
std::vector<std::int64_t> bounds_of_inputs(const Graph& graph);

/// A tensor of `spec` for the value: its data where the file has it, else random numbers that keep
/// a deep model's activations in range, on `device`. Throws Error where the graph does not say the
/// shape.
at::Tensor leaf(const Graph& graph, const Value& value, std::int64_t bound, c10::Device device);

/// Fills a parameter with the random numbers that leaf() gives it.
void draw(const at::Tensor& parameter);

}  // namespace symprof::measure::real
