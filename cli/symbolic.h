// symprof profile --symbolic: a model's figures as formulas of its dimensions.
#pragma once

#include "cli/profile_options.h"
#include "cli/progress.h"

namespace symprof::cli {

/// Profiles the model at many sizes, which `progress` shows, and prints formulas. Returns the exit
/// code. Throws Error.
int profile_symbolically(const ProfileOptions& options, ProgressBar& progress);

}  // namespace symprof::cli
