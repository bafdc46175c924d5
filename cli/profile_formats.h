// What `symprof profile` writes in each of its formats, and what it refuses of those that cannot do
// what is asked.
#pragma once

#include <fmt/format.h>

#include <string>

#include "profile/profile.h"
#include "report/formulas/formulas.h"
#include "report/write/formats.h"
#include "session/settings.h"

namespace symprof::cli {

struct ProfileOptions;

void write_profile(fmt::memory_buffer& out, const Profile& profile, const Settings& settings,
                   const ProfileOptions& options);
void write_formulas(fmt::memory_buffer& out, const report::FormulaReport& report,
                    const ProfileOptions& options);

/// Each throws Error where `format` cannot do what is asked of it.
void check_has_formulas(const report::FormatRow& format);
void check_has_peak_table(const report::FormatRow& format);
void check_has_measurement(const report::FormatRow& format);
void check_has_file(const report::FormatRow& format, const std::string& file);

}  // namespace symprof::cli
