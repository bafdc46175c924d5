// The operators that have a cost rule, with what their figures are worth.
#pragma once

#include <fmt/format.h>

#include <vector>

#include "profile/families.h"
#include "report/layout.h"

namespace symprof::report {

void write_ops(fmt::memory_buffer& out, const std::vector<profile::OperatorInfo>& ops,
               const Layout& layout);
/// Schema symprof.ops/1.
void write_ops_json(fmt::memory_buffer& out, const std::vector<profile::OperatorInfo>& ops);

}  // namespace symprof::report
