// The kernels of a traced program as measurements for a calibration: no GPU is needed.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/device_spec.h"
#include "measure/calibration.h"
#include "measure/traced_calls.h"

namespace symprof {

/// What a trace gave.
struct TracedKernels {
  measure::Calibration calibration;
  std::vector<std::size_t> calls;  ///< Of each kernel of the calibration.
  measure::TracedTime time;
  /// Microseconds of calls whose kernels are measurements, and of others: operators with
  /// kernels of several classes, those that cannot be replayed, and copies from and to the host.
  double used_us = 0, several_classes_us = 0, other_us = 0;
};

/// Reads traces of torch.profiler. Throws Error with the place where a file is broken.
std::vector<measure::Trace> read_traces(const std::vector<std::string>& paths);

/// The GPU that all traces name. Throws Error where a trace has none, or another one.
measure::DeviceFacts device_of_traces(const std::vector<measure::Trace>& traces);

/// Each operator with its shapes, types and strides runs on tensors without storage; the rules say
/// which kernels it launches, and the trace how long they took. `device`: the device that rules
/// are asked about. Throws Error where no operator has shapes.
TracedKernels kernels_of_traces(const std::vector<measure::Trace>& traces,
                                const DeviceSpec& device);

}  // namespace symprof
