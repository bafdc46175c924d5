// What functions without lines in the file have unpacked: `x, scale = transform(x)`.
#pragma once

#include <cstddef>
#include <vector>

#include "trace/frames/calls.h"
#include "trace/graph/graph.h"

namespace symprof::trace {

/// Puts off the deaths of results of modules that such functions call. torch.export has no lines of
///
///     def cascade(x, transforms):
///         total = 0
///         for transform in transforms:
///             x, scale = transform(x)
///             total += scale
///
/// but several results of one call have names in Python: they are unpacked, or lie in a tuple. So
/// each lives until the next module of that kind has returned, or the function has. Where the
/// function makes something of a result that may have taken over its name, `scale = scale * 2`, it
/// is not known to: that one dies with its last use. `last` is by value, as in hold_by_names.
void hold_unpacked_results(const Graph& graph, const PythonRun& run,
                           std::vector<std::size_t>& last);

}  // namespace symprof::trace
