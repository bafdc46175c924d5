// A profile as one self-contained HTML page.
//
// Public header.
#pragma once

#include <fmt/format.h>

#include <vector>

#include "base/setting.h"
#include "profile/profile.h"
#include "record/step_options.h"
#include "report/profile/columns.h"
#include "report/profile/rows.h"

namespace symprof::measure {
struct Measurement;  // measure/measurement.h
}

namespace symprof::report {

/// The memory timeline, drawn, and the table of `write_table`. If `measured` is not null, the table
/// of write_measured_table() precedes it.
void write_html(fmt::memory_buffer& out, const Profile& profile, const StepOptions& options,
                const RowOptions& row_options, const std::vector<Column>& columns,
                SettingSpeller spell = spell_plainly,
                const measure::Measurement* measured = nullptr);

}  // namespace symprof::report
