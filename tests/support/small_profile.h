// A profile made by hand: a convolution, a linear layer twice in a nested module, a call without a
// rule. Figures are chosen to show every form that a report can take, not to be those of a model.
#pragma once

#include "profile/profile.h"
#include "record/step_options.h"

namespace symprof::test {

Profile small_profile();
StepOptions small_options();

}  // namespace symprof::test
