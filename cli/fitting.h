// Runs a model in different ways and asks the allocator of a device each time.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cli/model.h"
#include "plan/fit.h"

namespace symprof::cli {

/// What --max calls the tokens of --kv-cache.
inline constexpr std::string_view cache_dimension = "kv-cache";

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
  std::optional<std::int64_t> range_end(const std::string& dimension) const;
  bool add_change(std::string text, const ModelOptions& changed);
  void add_changes();

  TorchLibrary& torch_;
  SizedModel& model_;
  const Graph& graph_;
  ModelOptions options_;
  plan::FitReport report_;
};

}  // namespace symprof::cli
