// The step as a trace of events that Perfetto and chrome://tracing open, of a run that never
// happened.
#pragma once

#include <fmt/format.h>

#include "base/device_spec.h"
#include "measure/run.h"
#include "profile/profile.h"

namespace symprof::report {

/// Two processes: the host's calls and the device's kernels, a slice for each call. Flows go from a
/// call to its kernels, and from a node's forward pass to its backward pass. Counters are the
/// allocated memory and the FLOPs per second of the kernels. The step begins with an idle device.
/// The prediction is left out if `profile` has no times.
///
/// If `measured` is not null, two more processes are a step that really ran, with the same zero:
/// the host's calls, and each stream's kernels, copies and memsets. It has a timeline, and is of
/// this profile.
void write_chrome_trace(fmt::memory_buffer& out, const Profile& profile, const DeviceSpec& device,
                        const measure::Run* measured = nullptr);

}  // namespace symprof::report
