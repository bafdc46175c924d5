// The operators of a step under the device's roofline, drawn.
#pragma once

#include <fmt/format.h>

#include "base/device_spec.h"
#include "profile/profile.h"

namespace symprof::report {

/// An SVG element: FLOPs per byte to the right, FLOP/s upwards, both logarithmic. The lines are the
/// device's bandwidth and its peak for each dtype in the data sheet; a dot is all calls of an
/// operator in a pass, its area their share of the busy time. Operators without FLOPs are not
/// drawn; the text below gives their share of the time. `profile` has times.
void write_roofline_svg(fmt::memory_buffer& out, const Profile& profile, const DeviceSpec& device);

}  // namespace symprof::report
