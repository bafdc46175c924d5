// Operators inserted by trace/passes/tensor_parallel.h and pipeline_stages.h. Tensor-parallel
// operators are the first rank's calls of _c10d_functional with the gradients that DTensor gives
// them (torch/distributed/tensor/_redistribute.py). Each takes a tensor, the number of ranks, and
// arguments specific to the operator.
#pragma once

#include <ATen/core/ivalue.h>

#include <string_view>
#include <vector>

#include "trace/graph/graph.h"

namespace symprof::shape {

bool is_of_rank(std::string_view op);

/// The results of `node`, for which is_of_rank is true; new tensors are on `device`.
std::vector<c10::IValue> run_of_rank(const Node& node, const std::vector<c10::IValue>& values,
                                     c10::Device device);

}  // namespace symprof::shape
