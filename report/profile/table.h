// A profile as the table that people read.
//
// Public header.
#pragma once

#include <fmt/format.h>

#include <vector>

#include "profile/profile.h"
#include "record/step_options.h"
#include "report/profile/columns.h"
#include "report/profile/rows.h"
#include "report/write/layout.h"

namespace symprof::report {

struct TextTable;                   // report/write/text_table.h
enum class Density : std::uint8_t;  // report/write/text_table.h

/// One line per row. A figure with calls without a rule is "?", or ">" and its known part.
TextTable text_table(const std::vector<Row>& rows, const std::vector<Column>& columns, Unit unit,
                     Density density);

/// Coverage, the text_table() that the layout has room for, totals.
void write_table(fmt::memory_buffer& out, const Profile& profile, const StepOptions& options,
                 const RowOptions& row_options, const std::vector<Column>& columns,
                 const Layout& layout);

}  // namespace symprof::report
