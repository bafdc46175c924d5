// The verb plan throughput: the batch with the most samples per second.
//
// Public header.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/device_spec.h"
#include "plan/checkpoint/answers.h"
#include "session/settings.h"

namespace symprof {

/// The question of Session::plan_throughput: the batch with the most samples per second, each with
/// the fastest checkpoint plan that fits.
struct ThroughputQuestion {
  std::vector<DeviceSpec> devices;  ///< Empty: the device of the settings.
  /// Memory of the process on each device, CUDA's context included; empty: all of the device's
  /// memory.
  std::optional<std::int64_t> budget_bytes;
  std::vector<std::string> regions;  ///< As in CheckpointQuestion.
};

struct ThroughputAnswer {
  /// One batch that fits.
  struct Row {
    std::int64_t batch = 0;
    double plain_step_us = 0;  ///< Of the step without recomputation.
    plan::SimulatedPlan plan;  ///< Empty: it fits without.

    double step_us() const { return plain_step_us + plan.cost_us; }
    double samples_per_second() const { return 1e6 * static_cast<double>(batch) / step_us(); }
  };
  struct OfDevice {
    DeviceSpec device;
    std::vector<Row> rows;                ///< By batch: the last is the largest that fits.
    std::optional<std::int64_t> refused;  ///< The smallest batch that does not fit.
    std::string refusal;  ///< Why the model does not run with it; empty: memory is missing.
    std::int64_t unknown_calls = 0;  ///< Without a time, in the smallest batch.

    const Row* fastest() const;  ///< Null where nothing fits.
  };
  Settings settings;  ///< As they ran: see PreparedModel.
  std::string model;
  std::vector<OfDevice> devices;
};

}  // namespace symprof
