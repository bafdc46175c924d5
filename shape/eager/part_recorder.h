// Records the parts of a program's run (record/program_parts.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "record/program_parts.h"
#include "record/recording.h"

namespace symprof::shape {

/// Appends the two nodes of each part to the recording. The first part begins at once.
class PartRecorder {
 public:
  PartRecorder(Recording& recording, const std::vector<SaveEvent>& saves)
      : recording_(recording), saves_(saves) {
    begin();
  }

  /// The current part's node for calls of no other node, and its node for optimizer updates.
  NodeId other() const { return parts_.back().range.first_node; }
  NodeId optimizer() const { return other() + 1; }

  /// While paused nothing ends a part, and nothing is noted.
  void pause(bool is_paused) { is_paused_ = is_paused; }
  bool is_paused() const { return is_paused_; }
  /// For one of the two nodes of a part: 0 or 1.
  std::optional<NodeId> own_place(NodeId node) const;

  void end(PartEnd end);
  /// Starts a gradient-free pass; after a pass with gradients, it belongs to that pass's step.
  void begin_gradient_free_pass();
  /// Ends the gradient-free pass; its part ends at the first call that does not use its results.
  void end_gradient_free_pass();
  /// True if the part waits for that call.
  bool is_behind_pass() const { return is_behind_pass_; }
  CallId first_call() const { return parts_.back().range.first_call; }
  /// Calls from here on do not belong to a finished gradient-free pass.
  void leave_pass();

  void note_forward();
  void note_pass();
  void note_optimizer(const ProgramOptimizer& optimizer);
  bool has_passes() const { return parts_.back().range.passes > 0; }
  bool has_forward() const { return parts_.back().has_forward; }
  /// True if an optimizer has updated parameters since the program began.
  bool has_optimizers() const { return has_optimizers_; }

  /// The parts so far, including the open one.
  std::vector<ProgramPart> parts() const;
  /// Finished steps: ended by an update or by a mark.
  std::size_t finished_steps() const { return marks_ > 0 ? marks_ : updates_; }

 private:
  void begin();
  void finish(PartEnd end);
  void close(ProgramPart& part) const;

  Recording& recording_;
  const std::vector<SaveEvent>& saves_;
  std::vector<ProgramPart> parts_;
  CallId first_pass_call_ = none;
  bool is_behind_pass_ = false, is_paused_ = false;
  std::size_t updates_ = 0, marks_ = 0;
  bool has_optimizers_ = false;
};

}  // namespace symprof::shape
