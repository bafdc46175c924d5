// Measurements made elsewhere, read for a profile of the same model.
#pragma once

#include <string>

#include "measure/measurement.h"
#include "profile/profile.h"

namespace symprof {

/// The times of `profile`'s nodes in the file at `path`: a trace of torch.profiler (.json,
/// .json.gz) of the same model's step, or a run that symprof saved (measure/run.h). Throws Error
/// that says where the file is broken, or that nothing in it took time.
measure::Measurement read_measurement(const std::string& path, const Profile& profile);

/// The same beside the estimates of `device`. Throws Error for a trace of a CPU beside a GPU's.
measure::Measurement read_measurement(const std::string& path, const Profile& profile,
                                      const DeviceSpec& device);

}  // namespace symprof
