// Runs a model in different ways and asks the allocator of a device each time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cli/fit_changes.h"
#include "cli/model.h"
#include "plan/fit.h"

namespace symprof::cli {

/// What --max calls the tokens of --kv-cache.
inline constexpr std::string_view cache_dimension = "kv-cache";

/// `model` at the sizes that were asked for; at 1 for `dimension` (of --max) where neither the
/// options nor the file have a size of it. Throws Error.
Graph graph_to_fit(SizedModel& model, const std::string& dimension);

/// The file is read once for all devices and sizes; a step is recorded for each device, whose
/// attention kernels and number of multiprocessors decide what runs.
class Fitting {
 public:
  /// `graph` is `model` at the sizes that were asked for. Everything referred to has to outlive
  /// this.
  Fitting(TorchLibrary& torch, SizedModel& model, const Graph& graph, const DeviceSpec& device,
          const plan::Budget& budget);

  /// With the largest size of `dimension`, unless that is empty, and with what would make it fit
  /// where it does not.
  plan::FitReport run(const std::string& dimension);

 private:
  Recording record(const ModelOptions& options);
  Recording record_at(const std::string& dimension, std::int64_t size);
  plan::Fit fit(const Recording& recording, const profile::LoopOptions& loop) const;
  void find_largest(const std::string& dimension);
  void add_changes();
  bool add_change(const std::string& text, const ModelOptions& changed);
  bool add_alone(const PossibleChange& change);
  void add_together(const std::vector<PossibleChange>& helpful);
  void add_smaller_batch();
  bool fits_with(const PossibleChange& change);

  TorchLibrary& torch_;
  SizedModel& model_;
  const Graph& graph_;
  ModelOptions options_;
  plan::FitReport report_;
};

}  // namespace symprof::cli
