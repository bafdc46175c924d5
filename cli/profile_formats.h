// The output of `symprof profile` in each format.
#pragma once

#include <fmt/format.h>

#include "cli/profile_options.h"
#include "profile/profile.h"
#include "report/formulas/formulas.h"
#include "session/settings.h"

namespace symprof::cli {

void write_profile(fmt::memory_buffer& out, const Profile& profile, const Settings& settings,
                   const ProfileOptions& options);
void write_formulas(fmt::memory_buffer& out, const report::FormulaReport& report,
                    const ProfileOptions& options);

}  // namespace symprof::cli
