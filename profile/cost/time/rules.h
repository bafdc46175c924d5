// The contract of a time rule: which kernels a call launches. Their times are computed in
// profile/time/.
//
// Launch counts were recorded from PyTorch 2.13's CUDA build with a stub CUDA driver; counts of
// libraries (cuBLAS, cuDNN) are lower bounds, one per call.
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

/// The kernels that a call launches.
struct Launches {
  std::vector<Kernel> kernels;
  bool waits = false;  ///< The host synchronizes with the device to read a value.
  /// The kernels approximate others that were not measured: no coefficients were fitted to them.
  bool is_rough = false;
};

/// nullopt if the rule does not cover this form of the call: its time is unknown.
using LaunchEstimate = std::optional<Launches>;

/// `cost`: from the operator's rule of FLOPs and bytes.
using TimeFunction = LaunchEstimate (*)(const Call&, const Cost& cost, const DeviceSpec&);

struct TimeRule {
  std::string_view op;
  TimeFunction launches;
};

/// The rules of a family: `usual` for most operators, rows for the others.
struct TimeRules {
  TimeFunction usual = nullptr;
  std::span<const TimeRule> rows;
};

}  // namespace symprof::profile
