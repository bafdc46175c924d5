// `with torch.no_grad():` and `with torch.autocast(...):` inside a graph: the nodes of such a
// region are between two marker nodes.
#pragma once

#include <optional>
#include <string_view>

#include "trace/graph/graph.h"
#include "trace/graph/uses.h"

namespace symprof::trace {

/// `region_grad_mode` has the argument `enabled`; `region_autocast` has `enabled` and may have
/// `dtype`; `region_end` closes the innermost region.
constexpr std::string_view region_grad_mode = "region::grad_mode";
constexpr std::string_view region_autocast = "region::autocast";
constexpr std::string_view region_end = "region::end";

inline bool is_region_marker(const Node& node) {
  return node.op == region_grad_mode || node.op == region_autocast || node.op == region_end;
}

/// Opens or closes the region of `marker` in `regions` (meta/fake/regions.h). False if the node is
/// not a marker.
template <class Regions>
bool obey_marker(const Node& marker, Regions& regions) {
  if (!is_region_marker(marker)) return false;
  const bool* enabled = argument_as<bool>(find_argument(marker, "enabled"));
  const DType* dtype = argument_as<DType>(find_argument(marker, "dtype"));
  const bool is_enabled = enabled != nullptr && *enabled;
  if (marker.op == region_grad_mode)
    regions.open_grad_mode(is_enabled);
  else if (marker.op == region_autocast)
    regions.open_autocast(is_enabled, dtype ? std::optional(*dtype) : std::nullopt);
  else
    regions.close();
  return true;
}

}  // namespace symprof::trace
