// Operators inserted by trace/passes/expert_parallel.h: the calls of the file that
// report/plan/parallel_plan_python.cpp writes, on the first rank, with rows spread evenly over the
// experts.
#pragma once

#include <ATen/core/ivalue.h>

#include <string_view>
#include <vector>

#include "trace/graph/graph.h"

namespace symprof::shape {

bool is_of_experts(std::string_view op);

/// The results of `node`, for which is_of_experts is true.
std::vector<c10::IValue> run_of_experts(const Node& node, const std::vector<c10::IValue>& values);

}  // namespace symprof::shape
