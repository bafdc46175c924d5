// Data of one rank's part of a step on several ranks.
//
// Public header.
#pragma once

#include <cstdint>
#include <vector>

#include "record/collective.h"
#include "record/ids.h"

namespace symprof {

/// Bytes that a rank keeps between steps, without padding.
struct HeldByRank {
  std::int64_t parameter_bytes = 0, gradient_bytes = 0, optimizer_bytes = 0;
};

/// A block that an engine allocates or frees between the steps of the loop.
struct EngineEvent {
  StorageId storage = none;
  bool is_taken = true;  ///< False: freed.
  /// Before the forward pass of this step, counted from 0; -1: after the model is created.
  int step = -1;
};

/// Forward or backward of a pipeline's microbatch through one stage: its first and last call.
struct StagePass {
  int stage = 0;
  bool is_backward = false;
  CallId first = none, last = none;
};

struct RankRecord {
  std::vector<Collective> collectives;  ///< In order of issue.
  HeldByRank held;
  std::vector<EngineEvent> engine_events;  ///< In order; storages without other events.
  std::vector<StagePass> passes;           ///< Of a pipeline, in order.
};

}  // namespace symprof
