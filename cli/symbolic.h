// symprof profile --symbolic: a model's figures as formulas of its dimensions.
#pragma once

#include "cli/profile_options.h"

namespace symprof::cli {

/// Profiles the model at many sizes and prints formulas. Returns the exit code. Throws Error.
int profile_symbolically(const ProfileOptions& options);

}  // namespace symprof::cli
