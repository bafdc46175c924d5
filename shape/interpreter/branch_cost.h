// Which of two branches costs more, where only data could tell which one runs.
#pragma once

#include <ATen/core/ivalue.h>
#include <c10/core/Device.h>

#include <vector>

#include "trace/graph/graph.h"

namespace symprof::shape {

/// True when `branch`, run on fake `inputs`, reads and writes at least as many bytes as `other`:
/// the observer of the current mode takes upper bounds. Throws Error when it does not.
bool is_costlier(const Graph& branch, const Graph& other, const std::vector<c10::IValue>& inputs,
                 c10::Device device);

}  // namespace symprof::shape
