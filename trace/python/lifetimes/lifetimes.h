// The lifetimes of a graph's values: after which node each is freed.
#pragma once

#include <cstddef>
#include <vector>

#include "record/lifetimes.h"
#include "trace/graph/graph.h"

namespace symprof::trace {

constexpr std::size_t never_dies = static_cast<std::size_t>(-1);

/// By value: the index of the last node that needs it; for a result that nothing reads, the node
/// that makes it. never_dies for inputs, parameters, buffers, constants, outputs and sources of
/// mutations.
std::vector<std::size_t> last_uses(const Graph& graph, Lifetimes lifetimes);

/// By node: the values that are freed after it. Inputs, parameters, buffers, constants, outputs and
/// sources of mutations are never freed.
///
/// With Lifetimes::frames, a module call keeps its arguments alive until it returns
/// (torch/nn/modules/module.py: `_wrapped_call_impl`), from the first node of its scope to the
/// last, nested modules included; and variables keep values alive as in local_variables.h. A node's
/// releases (Node::releases) are freed after that node.
std::vector<std::vector<ValueId>> values_dying_after(const Graph& graph, Lifetimes lifetimes);

}  // namespace symprof::trace
