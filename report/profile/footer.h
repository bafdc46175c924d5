// The lines of a report about the whole step: coverage first, totals last.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "profile/profile.h"
#include "record/step_options.h"
#include "report/profile/columns.h"
#include "report/profile/footer_line.h"
#include "report/write/layout.h"

namespace symprof::report {

/// "1,234 calls, all counted: …", or which operators have no rule.
std::string coverage_line(const Coverage& coverage);

/// Parameters, gradients, optimizer, saved activations, peak, FLOPs and warnings, a line each.
std::vector<FooterLine> footer_lines(const Profile& profile, const StepOptions& options, Unit unit);

void write_footer(fmt::memory_buffer& out, const Profile& profile, const StepOptions& options,
                  Unit unit, const Layout& layout);

}  // namespace symprof::report
