// When the values of a graph die.
#pragma once

#include <vector>

#include "meta/lifetimes.h"
#include "trace/graph.h"

namespace symprof::trace {

/// For each node the values that die when it has run; inputs, parameters, buffers, constants,
/// outputs and sources of mutations die with none. A call of a module reaches from the first node
/// of its scope to the last, those of modules inside included (torch/nn/modules/module.py:
/// `_wrapped_call_impl` holds the arguments until it returns).
std::vector<std::vector<ValueId>> values_dying_after(const Graph& graph, Lifetimes lifetimes);

}  // namespace symprof::trace
