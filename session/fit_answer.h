// The verb fit: does a training loop fit devices, and what would help?
//
// Public header.
#pragma once

#include <string>
#include <vector>

#include "base/device_spec.h"
#include "plan/fit.h"
#include "plan/rent.h"
#include "session/settings.h"

namespace symprof {

/// The question of Session::fit: does a training loop fit devices?
struct FitQuestion {
  /// Devices to answer for; empty: the device of the settings.
  std::vector<DeviceSpec> devices;
  /// The dimension whose maximum is searched, named as in sizes, or "kv-cache"; may be empty.
  std::string largest;
  /// True: also search the largest size with a checkpoint plan for each size.
  bool with_plans = false;
  /// If set, a step is timed with the largest batch that fits, unless `largest` names another
  /// dimension; with the given batch where the batch is fixed.
  plan::Job job;
};

struct FitAnswer {
  Settings settings;                     ///< Settings of the run: see PreparedModel.
  std::vector<plan::FitReport> reports;  ///< One for each device.
  plan::Job job;                         ///< The given job.
};

}  // namespace symprof
