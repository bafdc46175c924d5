// The text of the setting `optimizer`.
#pragma once

#include <string>

#include "record/step_options.h"

namespace symprof::settings {

/// "adamw:fused": the variant is PyTorch's default on CUDA where it is left out. Throws Error.
void read_optimizer(StepOptions& step, const std::string& given);

/// The names of optimizers and of variants.
std::string optimizer_help();

}  // namespace symprof::settings
