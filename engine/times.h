// Measured times of layers: exported or printed by `trtexec`, or logged by a custom profiler.
#pragma once

#include <string_view>

#include "engine/engine.h"
#include "engine/fields.h"

namespace symprof::engine {

/// True if `field` is a profile: a list whose first entry counts runs, or whose entries have times.
bool is_profile(const Field& field);

/// The profile that `trtexec` exports (sampleReporting.cpp, exportJSONProfile).
Times times_of(const Field& profile);

/// Reads the profile in the lines of a log: the table below `=== Profile (N iterations ) ===`,
/// whose columns are in another order in TensorRT 8.0, or lines `Timing: 37.472us -> name`. Empty
/// without one. Of several tables the last counts.
std::optional<Times> times_in(std::string_view log);

/// Reads a file with a profile. Throws Error without one.
Times read_times(const std::string& path);

/// `read_times` of bytes in memory; `path` is for messages.
Times read_times(std::string_view content, const std::string& path);

/// A layer's measured time in milliseconds, by layer; a warning reports any join other than by
/// position with equal names.
struct JoinedTimes {
  std::vector<std::optional<double>> average_ms;
  double sum_ms = 0;  ///< Of all records, joined or not.
  std::vector<std::string> warnings;
};

/// Records are identified by order (reportLayerTime): if counts agree, they are joined by position
/// and names are compared; else the k-th record of a name belongs to the k-th layer with it.
JoinedTimes join(const std::vector<Layer>& layers, const Times& times);

}  // namespace symprof::engine
