// Measured times of layers: what `trtexec` exports, prints, or what a profiler of one's own logs.
#pragma once

#include <string_view>

#include "engine/engine.h"
#include "engine/fields.h"

namespace symprof::engine {

/// Whether `field` is a profile: a list whose first entry counts runs, or whose entries have times.
bool is_profile(const Field& field);

/// The profile that `trtexec` exports (sampleReporting.cpp, exportJSONProfile).
Times times_of(const Field& profile);

/// Reads the profile in the lines of a log: the table below `=== Profile (N iterations ) ===`,
/// whose columns are in another order in TensorRT 8.0, or lines `Timing: 37.472us -> name`. Empty
/// without one. Of several tables the last counts.
std::optional<Times> times_in(std::string_view log);

/// Reads a file that has a profile. Throws Error where there is none in it.
Times read_times(const std::string& path);

/// `read_times` of bytes in memory; `path` is for messages.
Times read_times(std::string_view content, const std::string& path);

/// A layer's measured time in milliseconds, by layer; how they were joined is a warning where it
/// was not by position with the same names.
struct JoinedTimes {
  std::vector<std::optional<double>> average_ms;
  double sum_ms = 0;  ///< Of all records, joined or not.
  std::vector<std::string> warnings;
};

/// Records are told apart by their order (reportLayerTime): where counts agree they are joined by
/// position and names are compared; else the k-th record of a name belongs to the k-th layer of it.
JoinedTimes join(const std::vector<Layer>& layers, const Times& times);

}  // namespace symprof::engine
