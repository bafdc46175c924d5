// Analysis of a memory snapshot, and comparison of two, or of one with a prediction.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "session/settings.h"
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

/// Settings of the allocator, and the reserved peak that is predicted with them.
struct TriedSettings {
  std::string alloc_conf;  ///< As in PYTORCH_ALLOC_CONF, with "torch:2.11" for another version.
  std::int64_t peak_reserved_bytes = 0;
};

/// A measured history beside a predicted one.
struct MeasuredMemory {
  SnapshotAnswer measured, predicted;
  snapshot::Prediction prediction;
  /// Other settings, if the same program reserved other memory: nearest to the measured peak first.
  std::vector<TriedSettings> tried;
};

/// A predicted step with these settings of the allocator, as a snapshot that symprof writes. Throws
/// Error for settings that it does not know.
using PredictWith = std::function<snapshot::Snapshot(const std::string& alloc_conf)>;

/// The loop of `settings` with `alloc_conf` in the place of their own, as PredictWith simulates it.
profile::LoopOptions loop_with(const Settings& settings, const std::string& alloc_conf);

/// `alloc_conf`: the settings of the prediction. Throws Error for a measured snapshot without
/// requests.
MeasuredMemory beside_prediction(SnapshotAnswer measured, const PredictWith& predict,
                                 const std::string& alloc_conf);

}  // namespace symprof
