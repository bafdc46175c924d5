// Names that the last round of a loop binds anew by a call that a trace does not have.
#pragma once

#include <cstddef>
#include <vector>

#include "trace/frames/unseen_bindings.h"

namespace symprof::trace {

/// In
///
///     for layer, project in zip(layers, projections):
///         state = pad(state)
///         out = layer(x + state)
///         state = project(out)
///
/// nothing uses what the last round projects, so a trace has no call of it; yet the name lets go
/// there of what was padded. Where a line bound a name before one above it did, so in an earlier
/// round, and does not run after that, it is taken to have run: before the first line below it. Not
/// where something needs the value later: the line then stands under a condition (`if i < last:
/// state = …`). Exports keep calls whose results nothing uses.
///
/// Puts the deaths of such values forward: `last` is by value, as in hold_by_names.
void let_go_in_last_rounds(const Graph& graph, const PythonRun& run,
                           const std::vector<Assignment>& assignments,
                           const std::vector<HeldByName>& held, std::vector<std::size_t>& last);

}  // namespace symprof::trace
