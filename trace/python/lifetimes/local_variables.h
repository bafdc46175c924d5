// How long the local variables of Python functions keep the values of a graph alive.
#pragma once

#include <cstddef>
#include <vector>

#include "trace/graph/graph.h"

namespace symprof::trace {

/// Extends the lifetimes of values that functions bind to variables: until the variable is rebound
/// or its function returns. `last_uses`: the index of the last node that needs a value, by value.
/// Values without a line of Python are left unchanged.
///
/// A file has no lines that make no node: `residual = x`, `xs.append(x)`, `del x`. So the rules
/// are:
///
/// - A value that is read after its variable was rebound has a second variable. The second one is
///   rebound with the next such value of the first one; without such a value it holds its own until
///   the function returns.
/// - Two such values that are needed at once lie in a container. If the container is read as a
///   whole (`cat(xs)`), its values live until the function returns; else each lives until its last
///   use.
/// - `xs.append(f(x))` and the like show the container: its elements live as long as its variable.
///
/// More rules: variables that a loop rebinds without nodes (hidden_rebindings.h) or by calls that a
/// trace does not have (last_iterations.h), results that nothing reads (missing_results.h), and
/// variables of functions without lines (unpacked_results.h).
void extend_by_variables(const Graph& graph, std::vector<std::size_t>& last_uses);

}  // namespace symprof::trace
