// The groups of parameters that FSDP2 gathers and reduces together: those of each wrapped module
// that no wrapped module inside it has.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "record/recording.h"

namespace symprof::profile {

/// First and last call of a phase in which a module runs; none where it does not.
struct CallRange {
  CallId first = none, last = none;
  bool is_empty() const { return first == none; }
  void add(CallId call) {
    if (first == none) first = call;
    last = call;
  }
};

struct ParameterGroup {
  std::string module;  ///< Path of the wrapped module.
  NodeId node = none;  ///< The first of its nodes that uses one of its parameters.
  /// In FSDP2's order; `shards` are theirs (StorageRecord::parameter).
  std::vector<StorageId> parameters, shards;
  /// Calls of all nodes inside the module, whoever's parameters they use, by pass: one of each, or
  /// one for each microbatch of a pipeline.
  std::vector<CallRange> forward, backward;
};

/// Whether one of `ranges` begins, or ends, with `call`.
bool begins_with(std::span<const CallRange> ranges, CallId call);
bool ends_with(std::span<const CallRange> ranges, CallId call);

/// Whether the module at `path` is the one at `module`, or inside it.
bool is_inside(std::string_view path, std::string_view module);

/// In the order in which forward reaches them, the root first. Groups without parameters are left
/// out, but for the root. `recording` has shards of all parameters; `passes` are its microbatches'
/// forward and backward passes, empty where it has one of each. Throws Error where a parameter is
/// in no wrapped module.
std::vector<ParameterGroup> parameter_groups(const Recording& recording,
                                             std::span<const std::string> wrapped,
                                             std::span<const CallRange> passes);

}  // namespace symprof::profile
