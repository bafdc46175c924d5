// Analysis of a memory snapshot, and comparison of two, or of one with a prediction.
//
// Public header.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "snapshot/analysis.h"
#include "snapshot/compare.h"
#include "snapshot/prediction.h"

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

/// The same of a snapshot that was read.
SnapshotAnswer analyze_memory(snapshot::Snapshot read, std::optional<std::int64_t> device = {});

struct SnapshotComparison {
  SnapshotAnswer before, after;
  snapshot::Comparison comparison;

  /// Relative growth of the allocated peak; negative if it shrank.
  double growth() const;
};

/// Two snapshots, aligned by their requests.
SnapshotComparison compare_memory(const std::string& before, const std::string& after,
                                  std::optional<std::int64_t> device = {});

/// A measured history beside a predicted one.
struct MeasuredMemory {
  SnapshotAnswer measured, predicted;
  snapshot::Prediction prediction;
};

/// `predicted` is a snapshot as symprof writes it. Throws Error for a measured snapshot without
/// requests.
MeasuredMemory beside_prediction(SnapshotAnswer measured, snapshot::Snapshot predicted);

}  // namespace symprof
