// What a program did that ran several steps of its own: one recording, and where its steps are.
//
// Public header.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "record/recording.h"

namespace symprof {

/// Calls, nodes and events of one step of a program: half-open ranges. The first node has what
/// belongs to no other, the second the update.
struct ProgramStep {
  CallId first_call = 0, end_call = 0;
  NodeId first_node = 0, end_node = 0;
  std::size_t first_event = 0, end_event = 0;
};

struct ProgramRecording {
  Recording recording;             ///< From the program's first call on.
  std::vector<ProgramStep> steps;  ///< The last one may be unfinished.
};

/// One step as a recording of its own: storages that were there before it have no allocation,
/// storages that were gone are left out. The step's first two nodes come last. Calls of a node of
/// another step (backward of a graph that was kept) belong to the first of these two.
Recording step_of(const ProgramRecording& program, std::size_t step);
/// The place in step_of()'s nodes of `node` of the program; empty for one of another step.
std::optional<NodeId> node_in_step(const ProgramStep& step, NodeId node);

}  // namespace symprof
