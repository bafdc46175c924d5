// What a run says of its whole step, beside what was estimated of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "measure/run.h"
#include "profile/profile.h"
#include "report/profile/footer.h"
#include "report/write/json_writer.h"
#include "report/write/layout.h"

namespace symprof::report {

/// The step's time, and of a run on a GPU: what the GPU did and waited for, what recording cost,
/// its allocator's peaks, and what the driver says of it.
std::vector<FooterLine> measured_step_lines(const Profile& profile, const measure::Run& run);

/// That other programs took a share of a CPU's time, where it is enough to make a measurement
/// wrong.
std::optional<std::string> others_text(std::optional<double> share);

/// The member "run": null where `run` is.
void write_measured_step(JsonWriter& json, const Profile& profile, const measure::Run* run);

}  // namespace symprof::report
