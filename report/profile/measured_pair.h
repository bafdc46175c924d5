// Two measurements of one model side by side: a table by node, and JSON (schema
// symprof.measured_comparison/1).
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "report/profile/measured.h"

namespace symprof::report {

struct MeasuredPairRow {
  std::string op_type, op;
  std::vector<NodeId> nodes;  ///< Empty for events without a node.
  measure::Times before, after;
  EstimatedTimes estimated;

  std::int64_t difference_ns() const { return after.total_ns() - before.total_ns(); }
  /// False without an estimate, and of events without a node.
  bool is_outside(const measure::Times& measured) const;
};

/// The rows of both, joined by their nodes, events without a node by their names; the largest
/// differences first.
std::vector<MeasuredPairRow> measured_pairs(const Profile& profile,
                                            const measure::Measurement& before,
                                            const measure::Measurement& after,
                                            const RowOptions& options, const DeviceSpec& device);

void write_measured_pair(fmt::memory_buffer& out, const Profile& profile,
                         const measure::Measurement& before, const measure::Measurement& after,
                         const RowOptions& options, const DeviceSpec& device, const Layout& layout);
void write_measured_pair_json(fmt::memory_buffer& out, const Profile& profile,
                              const measure::Measurement& before, const measure::Measurement& after,
                              const RowOptions& options, const DeviceSpec& device);

}  // namespace symprof::report
