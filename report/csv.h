// The rows of a profile as CSV (RFC 4180): integers in bytes, FLOPs or calls, an empty field for
// what is not known.
//
// Public header.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "profile/profile.h"
#include "report/columns.h"
#include "report/rows.h"

namespace symprof::report {

/// `text` as a field: in quotes where it holds a comma, a quote or a line end.
std::string csv_field(const std::string& text);

void write_csv(fmt::memory_buffer& out, const Profile& profile, const RowOptions& row_options,
               const std::vector<Column>& columns);

}  // namespace symprof::report
