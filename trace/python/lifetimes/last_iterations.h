// Variables that the last iteration of a loop rebinds by a call that a trace does not have.
#pragma once

#include <cstddef>
#include <vector>

#include "trace/python/lifetimes/hidden_rebindings.h"

namespace symprof::trace {

/// In
///
///     for layer, project in zip(layers, projections):
///         state = pad(state)
///         out = layer(x + state)
///         state = project(out)
///
/// nothing reads the last projection, so a trace does not have its call; yet it rebinds `state` and
/// releases the padded tensor. If a line bound the variable before a line above it did, so in an
/// earlier iteration, and does not run after that, it is assumed to have been repeated before the
/// first line below it. Not if the value is needed later: then the line stands under a condition
/// (`if i < last: state = …`). Exports keep calls whose results nothing reads.
///
/// Shortens the lifetimes of such values. `last`: last use by value, as in extend_by_variables.
void release_in_last_iterations(const Graph& graph, const PythonRun& run,
                                const std::vector<Assignment>& assignments,
                                const std::vector<HeldByVariable>& held,
                                std::vector<std::size_t>& last);

}  // namespace symprof::trace
