// The output of `symprof profile` in each format, and the refusal of options that a format does not
// support.
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

/// Each throws Error if `format` does not support the option.
void check_has_formulas(const report::FormatRow& format);
void check_has_peak_table(const report::FormatRow& format);
void check_has_measurement(const report::FormatRow& format);
void check_has_file(const report::FormatRow& format, const std::string& file);

}  // namespace symprof::cli
