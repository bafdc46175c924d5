// Results that functions without lines unpack: `x, scale = transform(x)`.
#pragma once

#include <cstddef>
#include <vector>

#include "trace/graph/graph.h"
#include "trace/python/lifetimes/calls.h"

namespace symprof::trace {

/// Extends the lifetimes of results of modules that such functions call. torch.export keeps no
/// lines of
///
///     def cascade(x, transforms):
///         total = 0
///         for transform in transforms:
///             x, scale = transform(x)
///             total += scale
///
/// but several results of one call are always bound to variables or lie in a tuple. So each lives
/// until the next module of that kind has returned, or the function has. If the function makes
/// something from a result that may take over its variable, `scale = scale * 2`, the result lives
/// until its last use. `last`: last use by value, as in extend_by_variables.
void hold_unpacked_results(const Graph& graph, const PythonRun& run,
                           std::vector<std::size_t>& last);

}  // namespace symprof::trace
