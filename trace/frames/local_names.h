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
/// Lines that make no node are not in a file: `residual = x`, `xs.append(x)`, `del x`. So a value
/// that is used after its name was bound anew is taken to have a second name. The second name is
/// taken to be bound anew with the next such value of the first name; without such a value, it
/// holds its own until the function returns. Where two such values are needed at once, they are
/// taken to lie in a container. The values of a container that is used as a whole (`cat(xs)`) live
/// until the function returns; those of any other go each with its last use. `xs.append(f(x))` and
/// the like show the container: what it is given lives as long as its name.
///
/// Names that a loop binds by lines without nodes: trace/frames/unseen_bindings.h, and by calls
/// that a trace does not have: trace/frames/last_rounds.h. Results that nothing reads:
/// trace/frames/missing_results.h. What functions without lines name:
/// trace/frames/unpacked_results.h.
void hold_by_names(const Graph& graph, std::vector<std::size_t>& last_uses);

}  // namespace symprof::trace
