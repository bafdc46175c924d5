// The operators that trace/passes/tensor_parallel.h puts into a graph, on the first rank: calls of
// _c10d_functional with the gradients that DTensor gives them
// (torch/distributed/tensor/_redistribute.py). Each reads a tensor, the number of ranks, and what
// its name needs.
#pragma once

#include <ATen/core/ivalue.h>

#include <string_view>
#include <vector>

#include "trace/graph/graph.h"

namespace symprof::shape {

bool is_tensor_parallel(std::string_view op);

/// The results of `node`, for which is_tensor_parallel is true.
std::vector<c10::IValue> run_tensor_parallel(const Node& node,
                                             const std::vector<c10::IValue>& values);

}  // namespace symprof::shape
