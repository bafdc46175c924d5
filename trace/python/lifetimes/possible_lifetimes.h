// Upper bounds of lifetimes, where the file does not tell how long Python keeps a value alive.
#pragma once

#include <cstddef>
#include <vector>

#include "record/lifetimes.h"
#include "trace/graph/graph.h"

namespace symprof::trace {

struct PossibleLifetime {
  std::size_t last = 0;  ///< The index of the last node during which the value may be alive.
  LifetimeUncertainty uncertainty = LifetimeUncertainty::none;  ///< none: last_uses() is exact.
  /// No upper bound is known: the value was in a function without lines, or the file is a trace,
  /// and an attribute or a list may hold it. `last` is then an estimate.
  bool is_open = false;
};

/// An upper bound of each value's lifetime; last_uses() with Lifetimes::frames is the lower bound.
/// They differ where the file does not tell:
///
/// - torch.export keeps no lines of functions that are not called `forward`. Nodes that ran while a
///   function was at a line that does not call them itself ran in such a function. Its variables
///   may hold its results and arguments until it returns, so at most until the line ends.
/// - In such a function, `cache.update(key)` and the like may keep a value until the step ends.
/// - A line that unpacks more results than there are, `out, rest = block(x)`, got None, a number,
///   or a container. The container may hold whatever the called function still held when it
///   returned: until the step ends, or, if the name is `_`, until the caller returns.
/// - A variable whose value is read only under other names, `outputs = stage(x)`, holds a container
///   (hidden_containers.h): until it is rebound, it keeps what the called function had bound twice.
/// - A statement over several lines, `x = (` and so on, may make a value at a line that does not
///   show its variable. If the function reads the value further down, it may hold it until it
///   returns.
/// - Without lines, functions are known only by their modules.
///
/// Lists that collect values leave no trace in the file, and are not included.
std::vector<PossibleLifetime> possible_lifetimes(const Graph& graph);

}  // namespace symprof::trace
