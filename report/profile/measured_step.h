// The lines about a run's whole step, beside its estimate.
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

/// The step's time, and for a run on a GPU: the GPU's busy and idle times, the overhead of
/// recording, the allocator's peaks, and the driver's information.
std::vector<FooterLine> measured_step_lines(const Profile& profile, const measure::Run& run);

/// A warning that other programs used a share of the CPU's time, if it is enough to distort a
/// measurement.
std::optional<std::string> others_text(std::optional<double> share);

/// The member "run": null where `run` is.
void write_measured_step(JsonWriter& json, const Profile& profile, const measure::Run* run);

}  // namespace symprof::report
