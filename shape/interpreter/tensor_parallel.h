// The operators that trace/passes/tensor_parallel.h and pipeline_stages.h put into a graph. Those
// of the first, on the first rank, are calls of _c10d_functional with the gradients that DTensor
// gives them (torch/distributed/tensor/_redistribute.py). Each reads a tensor, the number of ranks,
// and what its name needs.
#pragma once

#include <ATen/core/ivalue.h>

#include <string_view>
#include <vector>

#include "trace/graph/graph.h"

namespace symprof::shape {

bool is_of_rank(std::string_view op);

/// The results of `node`, for which is_of_rank is true; what it makes is on `device`.
std::vector<c10::IValue> run_of_rank(const Node& node, const std::vector<c10::IValue>& values,
                                     c10::Device device);

}  // namespace symprof::shape
