// What a program did that ran several steps of its own: one recording, and where its steps are.
//
// Public header.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "record/recording.h"

namespace symprof {

/// Autograd saved a storage for backward, or released it: several autograd nodes may hold one.
struct SaveEvent {
  StorageId storage = none;
  bool is_saved = true;
};

/// An optimizer of the program.
struct ProgramOptimizer {
  std::string label;  ///< Its class and the variant of its kernels: "adamw:fused".
  std::string name;   ///< The variable that holds it; else its class.

  bool operator==(const ProgramOptimizer&) const = default;
};

/// Calls, nodes, events and saves of one step of a program: half-open ranges. (What the step's
/// first call saves, autograd saves before the call.) The first node has what belongs to no other,
/// the second the update.
struct ProgramStep {
  CallId first_call = 0, end_call = 0;
  NodeId first_node = 0, end_node = 0;
  std::size_t first_event = 0, end_event = 0;
  std::size_t first_save = 0, end_save = 0;
  /// A step that was recorded in several parts (record/program_parts.h) has two such nodes of each:
  /// first nodes of the parts behind the first, ascending.
  std::vector<NodeId> later_parts;
  int passes = 0;                            ///< Runs of autograd's engine by the program.
  std::vector<ProgramOptimizer> optimizers;  ///< Those that updated parameters, in order.
};

struct ProgramSteps {
  std::vector<ProgramStep> steps;  ///< The last one may be unfinished.
  std::size_t finished = 0;        ///< How many ended with an update, or by a mark.
  /// Evaluation and generation: what ran without gradients between two steps, and in none of them.
  /// `before` is the index of the step that follows.
  struct Between {
    ProgramStep range;
    std::size_t before = 0;
    int passes = 0;
  };
  std::vector<Between> between;
};

struct ProgramRecording : ProgramSteps {
  Recording recording;           ///< From the program's first call on.
  std::vector<SaveEvent> saves;  ///< In the order in which they happened.
};

/// One step as a recording of its own: storages that were there before it have no allocation,
/// storages that were gone are left out. The step's own two nodes come last. Calls of a node of
/// another step (backward of a graph that was kept) belong to the first of these two.
///
/// Of several passes, saved tensors and gradients are those of the moment when autograd, or
/// `.grad`, holds the most: the others are freed before it, or made after it.
Recording step_of(const ProgramRecording& program, const ProgramStep& step);
/// The place in step_of()'s nodes of `node` of the program; empty for one of another step.
std::optional<NodeId> node_in_step(const ProgramStep& step, NodeId node);

}  // namespace symprof
