// The operators of a step under the device's roofline, drawn.
#pragma once

#include <fmt/format.h>

#include "base/device_spec.h"
#include "profile/profile.h"

namespace symprof::report {

/// An SVG element: FLOPs per byte to the right, FLOP/s upwards, both logarithmic. The lines are the
/// device's bandwidth and its peak for each type that the data sheet has; a dot is all calls of an
/// operator in a pass, its area their share of the busy time. What moves bytes and computes nothing
/// has no place there; the text below says how much of the time that is. `profile` has times.
void write_roofline_svg(fmt::memory_buffer& out, const Profile& profile, const DeviceSpec& device);

}  // namespace symprof::report
