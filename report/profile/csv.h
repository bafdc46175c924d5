// The rows of a profile as CSV (RFC 4180): integers in bytes, FLOPs or calls; an unknown figure is
// an empty field.
//
// Public header.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "profile/profile.h"
#include "report/profile/columns.h"
#include "report/profile/rows.h"

namespace symprof::report {

void write_csv(fmt::memory_buffer& out, const Profile& profile, const RowOptions& row_options,
               const std::vector<Column>& columns);

}  // namespace symprof::report
