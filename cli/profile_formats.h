// The output of `symprof profile` in each format.
#pragma once

#include <fmt/format.h>

#include "cli/profile_options.h"
#include "profile/profile.h"
#include "report/formulas/formulas.h"
#include "session/memory_snapshot.h"
#include "session/settings.h"

namespace symprof::cli {

void write_profile(fmt::memory_buffer& out, const Profile& profile, const Settings& settings,
                   const ProfileOptions& options);
/// The memory snapshot in `file` beside the prediction. Throws as read_memory does.
MeasuredMemory measured_memory(const std::string& file, const Profile& profile,
                               const Settings& settings);
void write_formulas(fmt::memory_buffer& out, const report::FormulaReport& report,
                    const ProfileOptions& options);

}  // namespace symprof::cli
