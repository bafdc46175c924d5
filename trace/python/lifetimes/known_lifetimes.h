// The lifetimes of a graph, found once for all sizes of its inputs.
#pragma once

#include <memory>
#include <vector>

#include "trace/python/lifetimes/lifetimes.h"
#include "trace/python/lifetimes/possible_lifetimes.h"

namespace symprof::trace {

struct KnownLifetimes {
  std::vector<std::vector<ValueId>> dying_after;  ///< As values_dying_after() gives them.
  /// As possible_lifetimes() gives them; empty where the lifetimes are those of last uses.
  std::vector<PossibleLifetime> possible;
};

/// They follow from the lines of the code, which takes longer to read than a step takes to run: so
/// the last graph's are kept for the next one, where that is the same code at other sizes.
std::shared_ptr<const KnownLifetimes> known_lifetimes(const Graph& graph, Lifetimes lifetimes);

}  // namespace symprof::trace
