// Compares the costs of two branches whose condition depends on data.
#pragma once

#include <ATen/core/ivalue.h>
#include <c10/core/Device.h>

#include <vector>

#include "trace/graph/graph.h"

namespace symprof::shape {

/// True if `branch`, run on fake `inputs`, reads and writes at least as many bytes as `other`.
/// Throws Error if the current mode's observer takes no upper bounds.
bool is_costlier(const Graph& branch, const Graph& other, const std::vector<c10::IValue>& inputs,
                 c10::Device device);

}  // namespace symprof::shape
