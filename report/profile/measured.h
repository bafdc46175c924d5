// Measurements beside estimates: a table, lines and JSON.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "measure/measurement.h"
#include "profile/profile.h"
#include "report/profile/rows.h"
#include "report/write/json_writer.h"
#include "report/write/layout.h"

namespace symprof::report {

/// An estimate of the same time as a measurement. Nanoseconds.
struct EstimatedTimes {
  measure::Times times;
  /// Of all calls together: nine of ten measurements lie between the two.
  std::int64_t low_ns = 0, high_ns = 0;
  RowTimes::UnknownCalls unknown;  ///< Calls without an estimate, which the times lack.

  bool is_complete() const { return unknown.forward + unknown.backward + unknown.optimizer == 0; }
};

struct MeasuredRow {
  std::string op_type, op, module;
  std::vector<NodeId> nodes;  ///< Empty for events without a node.
  measure::Times measured;
  EstimatedTimes estimated;
  /// Events without a node: no estimate.
  bool is_unattributed = false;
  std::string why;

  /// Measured by estimated time; empty without an estimate of all calls.
  std::optional<double> ratio() const;
  /// The error of the estimate, in nanoseconds: the measured time without an estimate.
  std::int64_t error_ns() const;
};

/// The rows of `profile`, folded by `options`, and the events without a node, one row per operator;
/// the largest errors first. Not cut. `device`: the device of the estimates.
std::vector<MeasuredRow> measured_rows(const Profile& profile,
                                       const measure::Measurement& measurement,
                                       const RowOptions& options, const DeviceSpec& device);

/// A table of measured_rows(), the sum below, and the measured time with the share that found its
/// node. For a `profile` without times the table has only measurements.
void write_measured_table(fmt::memory_buffer& out, const Profile& profile,
                          const measure::Measurement& measurement, const RowOptions& options,
                          const DeviceSpec& device, const Layout& layout);

/// The member "measured": null where nothing was measured.
void write_measured(JsonWriter& json, const Profile& profile, const DeviceSpec& device,
                    const measure::Measurement* measurement);

}  // namespace symprof::report
