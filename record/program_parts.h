// How the parts of a program's run make training steps.
//
// Public header.
#pragma once

#include <cstdint>
#include <vector>

#include "record/program_recording.h"

namespace symprof {

/// What ended a part of a run.
enum class PartEnd : std::uint8_t {
  open,           ///< Nothing: the program ended in it.
  update,         ///< Parameters were updated.
  gradient_free,  ///< A forward pass under torch.no_grad, before any pass with gradients.
  mark,           ///< The program said so (symprof.step()).
};

/// The run between two places where a step may end. Its first two nodes are those of a step.
struct ProgramPart {
  ProgramStep range;  ///< With the passes and the optimizers of the part.
  PartEnd end = PartEnd::open;
  bool has_forward = false;    ///< A module ran with gradient mode on, or autograd's engine did.
  CallId first_pass_call = 0;  ///< Of a part that a gradient-free pass ended: where that began.
};

/// Steps of `parts`, in order, with what lies between steps.
///
/// - Where the program marks steps, they end at its marks alone.
/// - An update without a pass of its own belongs to the step before it: two optimizers, one step.
/// - Gradient-free passes belong to the step whose forward pass reads a result of theirs (a
/// teacher, a
///   rollout), and otherwise lie between steps (evaluation, generation).
/// - Where nothing ends a step, all that ran is one.
/// `gradient_free`: the nodes whose calls autograd did not record, ascending.
ProgramSteps steps_of(const std::vector<ProgramPart>& parts, const Recording& recording,
                      const std::vector<NodeId>& gradient_free);

}  // namespace symprof
