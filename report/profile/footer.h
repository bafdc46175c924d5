// The lines of a report about the whole step: coverage first, totals last.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "profile/profile.h"
#include "record/step_options.h"
#include "report/profile/columns.h"
#include "report/write/layout.h"
#include "report/write/text_table.h"

namespace symprof::report {

/// "1,234 calls, all counted: …", or which operators have no rule.
std::string coverage_line(const Coverage& coverage);

struct FooterLine {
  std::string_view label;  ///< Empty: continues the line before.
  std::string text;        ///< May refer to settings (base/setting.h).
  Emphasis emphasis = Emphasis::normal;
};

/// Parameters, gradients, optimizer, saved activations, peak, FLOPs and warnings, a line each.
std::vector<FooterLine> footer_lines(const Profile& profile, const StepOptions& options, Unit unit);

void write_footer(fmt::memory_buffer& out, const Profile& profile, const StepOptions& options,
                  Unit unit, const Layout& layout);

}  // namespace symprof::report
