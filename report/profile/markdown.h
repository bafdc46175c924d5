// A profile as Markdown, for issues and READMEs: a table as GitHub writes it, and a list of totals.
#pragma once

#include <fmt/format.h>

#include <vector>

#include "base/setting.h"
#include "profile/profile.h"
#include "record/step_options.h"
#include "report/profile/columns.h"
#include "report/profile/rows.h"

namespace symprof::report {

/// Coverage, the rows and columns of `write_table`, and its totals. Names are code, so that nothing
/// in them is taken for Markdown.
void write_markdown(fmt::memory_buffer& out, const Profile& profile, const StepOptions& options,
                    const RowOptions& row_options, const std::vector<Column>& columns,
                    SettingSpeller spell = spell_plainly);

}  // namespace symprof::report
