// Columns by the names that --columns takes.
#pragma once

#include <string_view>

#include "report/profile/columns.h"

namespace symprof::test {

inline report::Column column(std::string_view name) { return report::find_column(name).value(); }

}  // namespace symprof::test
