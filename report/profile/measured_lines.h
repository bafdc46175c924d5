// Lines below the table of measured times.
#pragma once

#include <vector>

#include "base/device_spec.h"
#include "measure/measurement.h"
#include "profile/profile.h"
#include "report/profile/footer_line.h"

namespace symprof::report {

/// True if the recording is of a forward pass, and no step: its estimates are the forward pass's.
/// Work of which none found its node may be of any pass.
bool is_forward_alone(const measure::Measurement& measurement);

/// `estimated` is null where nothing was.
std::vector<FooterLine> measured_lines(const Profile& profile,
                                       const measure::Measurement& measurement,
                                       const DeviceSpec* estimated);

}  // namespace symprof::report
