// `with torch.no_grad():` and `with torch.autocast(...):` inside a graph: the nodes of such a
// region stand flat between two marker nodes.
#pragma once

#include <optional>
#include <string_view>

#include "trace/graph/graph.h"

namespace symprof::trace {

/// `region_grad_mode` has the argument `enabled`; `region_autocast` has `enabled` and may have
/// `dtype`; `region_end` closes the innermost region.
constexpr std::string_view region_grad_mode = "region::grad_mode";
constexpr std::string_view region_autocast = "region::autocast";
constexpr std::string_view region_end = "region::end";

inline bool is_region_marker(const Node& node) {
  return node.op == region_grad_mode || node.op == region_autocast || node.op == region_end;
}

/// Opens or closes the region that `marker` stands for in `regions` (meta/fake/regions.h). False
/// for a node that is no marker.
template <class Regions>
bool obey_marker(const Node& marker, Regions& regions) {
  if (!is_region_marker(marker)) return false;
  bool enabled = false;
  std::optional<DType> dtype;
  for (const Argument& argument : marker.arguments) {
    if (const bool* given = std::get_if<bool>(&argument.value)) enabled = *given;
    if (const DType* given = std::get_if<DType>(&argument.value)) dtype = *given;
  }
  if (marker.op == region_grad_mode)
    regions.open_grad_mode(enabled);
  else if (marker.op == region_autocast)
    regions.open_autocast(enabled, dtype);
  else
    regions.close();
  return true;
}

}  // namespace symprof::trace
