// The contract of a rule of times: which kernels a call launches. How long each takes is the
// business of profile/time/.
//
// Numbers of launches were recorded from PyTorch 2.13's CUDA build, whose launches were caught
// without a GPU; those of libraries (cuBLAS, cuDNN) are at least one a call.
//
// Public header.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/device_spec.h"
#include "profile/cost/call.h"
#include "profile/cost/cost.h"
#include "profile/time/kernel.h"

namespace symprof::profile {

/// What a call asks of the device.
struct Launches {
  std::vector<Kernel> kernels;
  bool waits = false;  ///< The host waits until the device is done: it needs a value.
  /// The kernels stand for others that nobody measured: no device's coefficients are its own.
  bool is_rough = false;
};

/// Nothing where the call has a form that the rule does not cover: its time is not known then.
using LaunchEstimate = std::optional<Launches>;

/// `cost` is what the operator's rule of FLOPs and bytes says.
using TimeFunction = LaunchEstimate (*)(const Call&, const Cost& cost, const DeviceSpec&);

struct TimeRule {
  std::string_view op;
  TimeFunction launches;
};

/// The rules of a family: most operators of it launch what `usual` says, others have a row.
struct TimeRules {
  TimeFunction usual = nullptr;
  std::span<const TimeRule> rows;
};

}  // namespace symprof::profile
