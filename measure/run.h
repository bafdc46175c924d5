// An executed step: times of each node and of the whole step.
//
// Public header.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "measure/measurement.h"
#include "measure/timeline.h"

namespace symprof::measure {

/// How a GPU's work is timed.
enum class GpuTiming : std::uint8_t {
  cupti,   ///< From the start of each kernel to its end.
  events,  ///< CUDA events around each called operator; no kernel times.
};

struct RunOptions {
  std::string device = "cpu";  ///< "cpu", "cuda" or "cuda:1".
  GpuTiming gpu_timing = GpuTiming::cupti;
  std::int64_t steps = 10;  ///< Steps timed as a whole; as many again are timed call by call.
  std::int64_t warm_up = 2;
  bool keeps_timeline = false;  ///< Fill Run::timeline; not with GpuTiming::events.
};

/// A node, at the same index as in the recording of the same graph.
struct NodeRun {
  std::string name, op;
  Times times;  ///< Medians over the steps.
};

/// Kernels, copies or memsets of one node and pass that differ only in their time.
struct KernelRun {
  NodeId node = none;  ///< none: no node found.
  Phase phase = Phase::forward;
  std::string op;  ///< The operator called by the step; empty: none.
  std::string name;
  std::array<std::int32_t, 3> grid{}, block{};
  std::int64_t registers = 0;  ///< Of a thread.
  std::int64_t static_shared_bytes = 0, dynamic_shared_bytes = 0;
  std::int64_t bytes = 0;          ///< Copied or set per step.
  std::int64_t count = 0, ns = 0;  ///< Per step; medians.
};

/// A GPU's work in a step: medians over the recorded steps.
struct DeviceRun {
  GpuTiming timing = GpuTiming::cupti;
  std::string note;  ///< Why events were used instead of the requested CUPTI; else empty.
  std::vector<KernelRun> kernels;
  std::vector<Unattributed> unattributed;
  std::int64_t works = 0;   ///< Kernels, copies and memsets.
  std::int64_t sum_ns = 0;  ///< Sum of their times.
  /// Union of their times, and the span from the first start to the last end.
  std::int64_t busy_ns = 0, span_ns = 0;
  std::int64_t median_delay_ns = 0;  ///< From the end of a call to the start of its work.
  std::int64_t dropped_records = 0, unreadable_records = 0;  ///< Over all steps.
  /// For each unrecorded step: time until the host had issued everything.
  std::vector<double> host_us;
  std::vector<double> recorded_step_us;  ///< Of each recorded step, in order.
  /// Peaks of PyTorch's caching allocator in the unrecorded steps.
  std::int64_t peak_allocated_bytes = 0, peak_reserved_bytes = 0;
  std::string driver_version;  ///< Empty (and the next two null) without NVML.
  std::optional<double> power_watts, clock_hz;

  double median_recorded_us() const;
  double median_host_us() const;
};

struct Run {
  std::string model;
  std::string device;        ///< "cpu", "cuda:0".
  std::string processor;     ///< The system's name; empty if unknown.
  std::int64_t threads = 1;  ///< Threads used by operators.
  std::string torch_version;
  std::vector<double> step_us;  ///< Of each step timed as a whole, in order.
  /// Share of CPU time used by other programs while steps ran on a CPU. Empty if unknown.
  std::optional<double> others_share;
  std::vector<NodeRun> nodes;    ///< By NodeId.
  std::optional<DeviceRun> gpu;  ///< For a run on a GPU: node times are GPU times.
  /// The last step timed call by call; empty if not requested, or if timed by events.
  std::optional<Timeline> timeline;

  double median_step_us() const;
  /// Quartiles of the step time.
  double lower_quartile_us() const;
  double upper_quartile_us() const;
};

/// `run` as the times of the nodes of `recording`. Time outside of operators belongs to no node.
/// Throws Error if the run is of another model.
Measurement measurement_of(const Run& run, const Recording& recording);

/// Writes and reads a run as JSON, schema symprof.run/1. Reading throws Error that names the key.
std::string to_json(const Run& run);
Run parse_run(const std::string& json, const std::string& path);

}  // namespace symprof::measure
