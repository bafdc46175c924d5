// The region of a plan that a recorded call belongs to.
#pragma once

#include <string>

#include "record/recording.h"

namespace symprof {

/// Module path without the call index: "encoder.layers.0" for its second call,
/// "encoder.layers.0@1".
inline std::string without_call(const std::string& path) { return path.substr(0, path.find('@')); }

/// The module whose region makes the call, in forward or recompute; empty if there is none.
inline std::string region_of_call(const Recording& recording, CallId call) {
  const CallRecord& record = recording.calls[static_cast<std::size_t>(call)];
  const NodeRecord& node = recording.nodes[static_cast<std::size_t>(record.node)];
  return node.op == "higher_order::tag_activation_checkpoint" ? without_call(node.name) : "";
}

}  // namespace symprof
