// What was measured beside what was estimated: a table, lines and JSON.
//
// Public header.
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
  /// Of all of them together: nine of ten measurements lie between the two.
  std::int64_t low_ns = 0, high_ns = 0;
  RowTimes::UnknownCalls unknown;  ///< Calls without an estimate, which the times lack.

  bool is_complete() const { return unknown.forward + unknown.backward + unknown.optimizer == 0; }
};

struct MeasuredRow {
  std::string op_type, op, module;
  std::vector<NodeId> nodes;  ///< None of what found no node.
  measure::Times measured;
  EstimatedTimes estimated;
  /// What found no node: it has no estimate.
  bool is_unattributed = false;
  std::string why;

  /// Measured by estimated; empty where there is no estimate, or not of all of its calls.
  std::optional<double> ratio() const;
  /// By how much the estimate is off, in nanoseconds: all of the measured time where there is none.
  std::int64_t error_ns() const;
};

/// The rows of `profile`, folded as `options` say, and those of what found no node, each operator
/// one; the largest errors first. Not cut. `device`: whose estimates they are.
std::vector<MeasuredRow> measured_rows(const Profile& profile,
                                       const measure::Measurement& measurement,
                                       const RowOptions& options, const DeviceSpec& device);

/// A table of measured_rows(), the sum below, and what was measured and how much of it found its
/// node. A `profile` without times has nothing to compare with: then what was measured stands
/// alone.
void write_measured_table(fmt::memory_buffer& out, const Profile& profile,
                          const measure::Measurement& measurement, const RowOptions& options,
                          const DeviceSpec& device, const Layout& layout);

/// The member "measured": null where nothing was measured.
void write_measured(JsonWriter& json, const Profile& profile, const DeviceSpec& device,
                    const measure::Measurement* measurement);

}  // namespace symprof::report
