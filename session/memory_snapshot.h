// Analysis of a memory snapshot, and comparison of two.
//
// Public header.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "snapshot/analysis.h"
#include "snapshot/compare.h"

namespace symprof {

/// A snapshot with its answer for one device.
struct SnapshotAnswer {
  snapshot::Snapshot snapshot;
  snapshot::Sites sites;
  snapshot::DeviceAnswer device;
};

/// Reads the file at `path`. `device` is a number; none: the one with the most events. Throws Error
/// for a file that is no snapshot, and for a device that it does not have.
SnapshotAnswer read_memory(const std::string& path, std::optional<std::int64_t> device = {});

struct SnapshotComparison {
  SnapshotAnswer before, after;
  snapshot::Comparison comparison;

  /// Relative growth of the allocated peak; negative if it shrank.
  double growth() const;
};

/// Two snapshots, aligned by their requests.
SnapshotComparison compare_memory(const std::string& before, const std::string& after,
                                  std::optional<std::int64_t> device = {});

}  // namespace symprof
