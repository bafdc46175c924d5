// What a report says about the whole step: coverage first, totals last.
#pragma once

#include <fmt/format.h>

#include <string>

#include "profile/profile.h"
#include "record/step_options.h"
#include "report/columns.h"
#include "report/layout.h"

namespace symprof::report {

/// "1,234 calls, all counted: …", or which operators have no rule.
std::string coverage_line(const Coverage& coverage);

/// Parameters, gradients, optimizer, saved activations, peak, FLOPs and warnings, a line each.
void write_footer(fmt::memory_buffer& out, const Profile& profile, const StepOptions& options,
                  Unit unit, const Layout& layout);

}  // namespace symprof::report
