// Which values autocast has in its lower precision, as far as operators tell without a run.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "trace/graph/graph.h"
#include "trace/graph/uses.h"

namespace symprof::trace {

/// Filled node by node, in order, so that a pass can ask before it changes a node.
class AutocastPrecision {
 public:
  explicit AutocastPrecision(const Graph& graph);

  /// Takes in what the node at `index` makes.
  void add(std::size_t index);

  /// False for values of nodes that were not added yet.
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

/// The first value in the lower precision that a function was given, of those from which its nodes
/// made `id`, which is not in the lower precision; no_value where there is none. `is_inside` says
/// which nodes are the function's. So `q` of `(q * cos).to(dtype)` where `cos` is float32.
ValueId lower_origin(const Graph& graph, const Uses& uses, const AutocastPrecision& precision,
                     ValueId id, const std::function<bool(std::size_t)>& is_inside);

}  // namespace symprof::trace
