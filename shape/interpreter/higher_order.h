// torch.ops.higher_order: operators over graphs. Operators that only change a mode, or nothing, are
// flattened when a file is read (trace/passes/inline_regions.h); the operators here decide what
// runs, how often, or is recomputed in backward. Calls of their graphs belong to the node.
//
// As in PyTorch (torch/_higher_order_ops), a branch of `cond`, an iteration of `while_loop` and an
// element of `map` keep only their operands for backward, which recomputes them.
#pragma once

#include <ATen/core/ivalue.h>
#include <c10/core/Device.h>

#include <string_view>
#include <vector>

#include "record/lifetimes.h"
#include "shape/interpreter/recompute.h"
#include "trace/graph/graph.h"

namespace symprof::shape {

/// True for an operator that run_higher_order runs.
bool is_higher_order(std::string_view op);

/// The results of `node`, for which is_higher_order is true; `values` are the values of its graph.
/// Throws Error if a condition depends on data; for `cond`, an observer that takes upper bounds
/// (meta::Observer::takes_upper_bounds) gets the branch that moves more bytes.
std::vector<c10::IValue> run_higher_order(const Node& node, const std::vector<c10::IValue>& values,
                                          c10::Device device, const Recompute& recompute,
                                          Lifetimes lifetimes);

}  // namespace symprof::shape
