// The parameter groups that FSDP2 gathers and reduces together: each wrapped module's parameters
// except those of wrapped submodules.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "record/recording.h"

namespace symprof::profile {

/// First and last call of a module's run in a phase; none if it does not run.
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
  /// Ranges of the calls inside the module, including those of nested groups: one range, or one for
  /// each microbatch of a pipeline.
  std::vector<CallRange> forward, backward;
};

/// True if one of `ranges` begins, or ends, with `call`.
bool begins_with(std::span<const CallRange> ranges, CallId call);
bool ends_with(std::span<const CallRange> ranges, CallId call);

/// True if `path` is `module` or inside it.
bool is_inside(std::string_view path, std::string_view module);

/// Groups in forward order, the root first. Groups without parameters are omitted, except the root.
/// `recording` has shards of all parameters; `passes` are its microbatches' forward and backward
/// passes, empty if it has one of each. Throws Error if a parameter is in no wrapped module.
std::vector<ParameterGroup> parameter_groups(const Recording& recording,
                                             std::span<const std::string> wrapped,
                                             std::span<const CallRange> passes);

}  // namespace symprof::profile
