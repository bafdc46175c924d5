// How long the names of Python functions hold the values of a graph.
#pragma once

#include <cstddef>
#include <vector>

#include "trace/graph/graph.h"

namespace symprof::trace {

/// Puts off the deaths of values that functions have bound to names: until a name is bound anew or
/// its function returns. `last_uses` has for each value the index of the last node that needs it;
/// values without a line of Python stay as they are.
///
/// Lines that make no node are not in a file: `residual = x`, `xs.append(x)`, `del x`. What is used
/// after its name was bound anew has a second name. That is taken to be bound anew with the next
/// such value of the first name, else to live until the function returns. Where two are needed at
/// once they lie in a container: one that is used as a whole (`cat(xs)`) lives until the function
/// returns, from any other each is taken to go with its last use.
void hold_by_names(const Graph& graph, std::vector<std::size_t>& last_uses);

}  // namespace symprof::trace
