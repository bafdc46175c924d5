// When the values of a graph die.
#pragma once

#include <cstddef>
#include <vector>

#include "record/lifetimes.h"
#include "trace/graph/graph.h"

namespace symprof::trace {

constexpr std::size_t never_dies = static_cast<std::size_t>(-1);

/// For each value the index of the last node that needs it: for a result that nothing reads, the
/// node that makes it. never_dies for inputs, parameters, buffers, constants, outputs and sources
/// of mutations.
std::vector<std::size_t> last_uses(const Graph& graph, Lifetimes lifetimes);

/// For each node the values that die when it has run; inputs, parameters, buffers, constants,
/// outputs and sources of mutations die with none.
///
/// With Lifetimes::frames a call of a module reaches from the first node of its scope to the last,
/// those of modules inside included (torch/nn/modules/module.py: `_wrapped_call_impl` holds the
/// arguments until it returns), and names hold values as trace/frames/local_names.h says. What a
/// node releases (Node::releases) goes with that node.
std::vector<std::vector<ValueId>> values_dying_after(const Graph& graph, Lifetimes lifetimes);

}  // namespace symprof::trace
