// The recording of a program with several steps, and the ranges of its steps.
//
// Public header.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "record/recording.h"

namespace symprof {

/// Autograd saved a storage for backward, or released it; several autograd nodes may hold one.
struct SaveEvent {
  StorageId storage = none;
  bool is_saved = true;
};

/// An optimizer of the program.
struct ProgramOptimizer {
  std::string label;  ///< Class and kernel variant: "adamw:fused".
  std::string name;   ///< The variable that holds it; else the class.

  bool operator==(const ProgramOptimizer&) const = default;
};

/// Half-open ranges of calls, nodes, events and saves of one step of a program. (Saves of the
/// step's first call precede the call.) The first node has the calls of no other node, the second
/// the update.
struct ProgramStep {
  CallId first_call = 0, end_call = 0;
  NodeId first_node = 0, end_node = 0;
  std::size_t first_event = 0, end_event = 0;
  std::size_t first_save = 0, end_save = 0;
  /// A step recorded in several parts (record/program_parts.h) has two such nodes per part: the
  /// first nodes of the later parts, ascending.
  std::vector<NodeId> later_parts;
  int passes = 0;                            ///< Runs of autograd's engine by the program.
  std::vector<ProgramOptimizer> optimizers;  ///< Optimizers that updated parameters, in order.
};

struct ProgramSteps {
  std::vector<ProgramStep> steps;  ///< The last one may be unfinished.
  std::size_t finished = 0;        ///< The number of steps ended by an update or a mark.
  /// Evaluation and generation: gradient-free passes between two steps. `before` is the index of
  /// the next step.
  struct Between {
    ProgramStep range;
    std::size_t before = 0;
    int passes = 0;
  };
  std::vector<Between> between;
};

struct ProgramRecording : ProgramSteps {
  Recording recording;           ///< From the program's first call on.
  std::vector<SaveEvent> saves;  ///< In order of time.
};

/// One step as a separate recording: storages that existed before it have no allocation event,
/// storages freed before it are omitted. The step's own two nodes come last. Calls of another
/// step's nodes (backward of a retained graph) belong to the first of these two.
///
/// With several passes, saved tensors and gradients are those alive when autograd, or `.grad`,
/// holds the most: the others are freed before that moment, or created after it.
Recording step_of(const ProgramRecording& program, const ProgramStep& step);
/// The index of the program's `node` in step_of()'s nodes; empty for a node of another step.
std::optional<NodeId> node_in_step(const ProgramStep& step, NodeId node);

}  // namespace symprof
