// A profile as the table that people read.
//
// Public header.
#pragma once

#include <fmt/format.h>

#include <vector>

#include "profile/profile.h"
#include "record/step_options.h"
#include "report/columns.h"
#include "report/layout.h"
#include "report/rows.h"

namespace symprof::report {

/// Coverage, one line a row, totals. A figure that lacks calls without a rule is "?", or ">" and
/// what is known of it.
void write_table(fmt::memory_buffer& out, const Profile& profile, const StepOptions& options,
                 const RowOptions& row_options, const std::vector<Column>& columns,
                 const Layout& layout);

}  // namespace symprof::report
