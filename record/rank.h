// What a step has that is one rank's part of a step of several.
//
// Public header.
#pragma once

#include <cstdint>
#include <vector>

#include "record/collective.h"
#include "record/ids.h"

namespace symprof {

/// Bytes of what a rank keeps between steps, without padding.
struct HeldByRank {
  std::int64_t parameter_bytes = 0, gradient_bytes = 0, optimizer_bytes = 0;
};

/// A block that an engine takes or gives back between the steps of the loop.
struct EngineEvent {
  StorageId storage = none;
  bool is_taken = true;  ///< Or given back.
  /// Before the forward pass of this step, counted from 0; -1: when the model has been made.
  int step = -1;
};

/// Forward or backward of a pipeline's microbatch through one stage: its first and last call.
struct StagePass {
  int stage = 0;
  bool is_backward = false;
  CallId first = none, last = none;
};

struct RankRecord {
  std::vector<Collective> collectives;  ///< In the order in which they are issued.
  HeldByRank held;
  std::vector<EngineEvent> engine_events;  ///< In their order; storages without other events.
  std::vector<StagePass> passes;           ///< Of a pipeline, in their order.
};

}  // namespace symprof
