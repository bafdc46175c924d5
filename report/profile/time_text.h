// What a report says about the time of a step.
#pragma once

#include <vector>

#include "report/profile/footer.h"

namespace symprof::report {

/// The step with its interval, rates, what limits it and where its times come from, a line each.
/// `profile` has times.
void add_time_lines(std::vector<FooterLine>& lines, const Profile& profile);

}  // namespace symprof::report
