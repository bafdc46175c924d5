// Parses the options of rows and columns.
#pragma once

#include <string>
#include <vector>

#include "base/setting.h"
#include "report/profile/columns.h"
#include "report/profile/rows.h"

namespace symprof::report {

/// Empty strings are options that were not given.
struct RowTexts {
  std::string by, depth, sort, top, unit = "flops";
};

/// Rows are modules if a depth is given. Throws Error for the first invalid text, and for a depth
/// of other rows.
RowOptions read_rows(const RowTexts& texts);

/// "node", "module" or "op". Throws Error.
By read_by(const std::string& name);

/// Throws Error about `where`, with all names, if no column is called `name`.
Column read_column(const SettingRef& where, const std::string& name);
/// Names are separated by commas.
std::vector<Column> read_columns(const std::string& names);

}  // namespace symprof::report
