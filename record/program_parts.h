// Groups the parts of a program's run into training steps.
#pragma once

#include <cstdint>
#include <vector>

#include "record/program_recording.h"

namespace symprof {

/// The end of a part of a run.
enum class PartEnd : std::uint8_t {
  open,           ///< The program ended in the part.
  update,         ///< Parameters were updated.
  gradient_free,  ///< A forward pass under torch.no_grad, before any pass with gradients.
  mark,           ///< A mark of the program (symprof.step()).
};

/// The run between two possible ends of a step. Its first two nodes are the step's own nodes.
struct ProgramPart {
  ProgramStep range;  ///< Includes the part's passes and optimizers.
  PartEnd end = PartEnd::open;
  bool has_forward = false;    ///< A module ran with gradient mode on, or autograd's engine ran.
  CallId first_pass_call = 0;  ///< For a part ended by a gradient-free pass: the pass's first call.
};

/// The steps of `parts`, in order, and the runs between steps.
///
/// - If the program marks steps, they end only at its marks.
/// - An update without a pass of its own belongs to the previous step: two optimizers, one step.
/// - Gradient-free passes belong to the step whose forward pass reads their results (a teacher, a
///   rollout); otherwise they are between steps (evaluation, generation).
/// - If nothing ends a step, the whole run is one step.
///
/// `gradient_free`: the nodes whose calls autograd did not record, ascending.
ProgramSteps steps_of(const std::vector<ProgramPart>& parts, const Recording& recording,
                      const std::vector<NodeId>& gradient_free);

}  // namespace symprof
