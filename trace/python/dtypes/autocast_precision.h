// Finds the values that have the lower precision under autocast, as far as operators show it
// without a run.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "trace/graph/graph.h"
#include "trace/graph/uses.h"

namespace symprof::trace {

/// Add nodes in order; a pass may query it before it changes the next node.
class AutocastPrecision {
 public:
  explicit AutocastPrecision(const Graph& graph);

  /// Adds the results of the node at `index`.
  void add(std::size_t index);

  /// False for results of nodes that were not added yet.
  bool is_lower(ValueId id) const {
    return id != no_value && static_cast<std::size_t>(id) < is_lower_.size() &&
           is_lower_[static_cast<std::size_t>(id)];
  }

 private:
  bool makes_lower(std::size_t index) const;
  bool is_float(ValueId id) const;

  const Graph& graph_;
  std::vector<bool> is_lower_;         // By value.
  std::vector<bool> is_switched_off_;  // By node: in `with torch.autocast(…, enabled=False):`.
};

/// The first lower-precision argument of a function from which its nodes computed `id`, a float32
/// value; no_value if there is none. `is_inside` tells the function's nodes. For example `q` of `(q
/// * cos).to(dtype)` if `cos` is float32.
ValueId lower_origin(const Graph& graph, const Uses& uses, const AutocastPrecision& precision,
                     ValueId id, const std::function<bool(std::size_t)>& is_inside);

}  // namespace symprof::trace
