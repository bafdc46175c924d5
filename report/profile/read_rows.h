// Rows and columns as they are asked for, in texts.
#pragma once

#include <string>
#include <vector>

#include "base/setting.h"
#include "report/profile/columns.h"
#include "report/profile/rows.h"

namespace symprof::report {

/// Empty strings where nothing was asked.
struct RowTexts {
  std::string by, depth, sort, top, unit = "flops";
};

/// Rows are modules where a depth is given. Throws Error for the first text that names nothing, and
/// for a depth of other rows.
RowOptions read_rows(const RowTexts& texts);

/// "node", "module" or "op". Throws Error.
By read_by(const std::string& name);

/// Throws Error about `where`, with all names, where no column is called `name`.
Column read_column(const SettingRef& where, const std::string& name);
/// Of names with commas between.
std::vector<Column> read_columns(const std::string& names);

}  // namespace symprof::report
