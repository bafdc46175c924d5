// Where the parts of a program's run begin and end (record/program_parts.h).
#pragma once

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

  /// The running part's node of what belongs to no other, and that of its updates.
  NodeId other() const { return parts_.back().range.first_node; }
  NodeId optimizer() const { return other() + 1; }

  void end(PartEnd end);
  /// A gradient-free pass runs from here on; where one with gradients ran before it, it is a piece
  /// of that step.
  void begin_gradient_free_pass();
  /// It ended, and so does its part: with the first call that does not belong to its results.
  void end_gradient_free_pass();
  /// Whether the part waits for that call.
  bool is_behind_pass() const { return is_behind_pass_; }
  CallId first_call() const { return parts_.back().range.first_call; }
  /// What runs now is none of a pass that has ended.
  void leave_pass();

  void note_forward();
  void note_pass();
  void note_optimizer(const ProgramOptimizer& optimizer);
  bool has_passes() const { return parts_.back().range.passes > 0; }
  bool has_forward() const { return parts_.back().has_forward; }
  /// Whether an optimizer has updated parameters since the program began.
  bool has_optimizers() const { return has_optimizers_; }

  /// The parts until now, the open one included.
  std::vector<ProgramPart> parts() const;
  /// Steps that have ended, with an update or by a mark.
  std::size_t finished_steps() const { return marks_ > 0 ? marks_ : updates_; }

 private:
  void begin();
  void finish(PartEnd end);
  void close(ProgramPart& part) const;

  Recording& recording_;
  const std::vector<SaveEvent>& saves_;
  std::vector<ProgramPart> parts_;
  CallId first_pass_call_ = none;
  bool is_behind_pass_ = false;
  std::size_t updates_ = 0, marks_ = 0;
  bool has_optimizers_ = false;
};

}  // namespace symprof::shape
