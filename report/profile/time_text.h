// The lines of a report about the time of a step.
#pragma once

#include <vector>

#include "profile/profile.h"
#include "report/profile/footer_line.h"

namespace symprof::report {

/// The step with its interval, rates, its limits and the sources of its times, a line each.
/// `profile` has times.
void add_time_lines(std::vector<FooterLine>& lines, const Profile& profile);

}  // namespace symprof::report
