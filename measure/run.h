// A step that really ran: how long each node took, and the whole step.
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

/// How the times of a GPU's work are taken.
enum class GpuTiming : std::uint8_t {
  cupti,   ///< From the begin of each kernel to its end.
  events,  ///< CUDA events around each operator that the program called; no kernels.
};

struct RunOptions {
  std::string device = "cpu";  ///< "cpu", "cuda" or "cuda:1".
  GpuTiming gpu_timing = GpuTiming::cupti;
  std::int64_t steps = 10;  ///< That are timed whole, and as many again call by call.
  std::int64_t warm_up = 2;
  bool keeps_timeline = false;  ///< Run::timeline is wanted; not with GpuTiming::events.
};

/// A node of the recording of the same graph, in the same place.
struct NodeRun {
  std::string name, op;
  Times times;  ///< Medians over the steps.
};

/// Kernels, copies or memsets of one node and pass that differ in nothing but their time.
struct KernelRun {
  NodeId node = none;  ///< None: it found no node.
  Phase phase = Phase::forward;
  std::string op;  ///< The operator that the step called for it; empty: none.
  std::string name;
  std::array<std::int32_t, 3> grid{}, block{};
  std::int64_t registers = 0;  ///< Of a thread.
  std::int64_t static_shared_bytes = 0, dynamic_shared_bytes = 0;
  std::int64_t bytes = 0;          ///< Copied or set in a step.
  std::int64_t count = 0, ns = 0;  ///< In a step; medians.
};

/// What a GPU did in a step: medians over the recorded steps.
struct DeviceRun {
  GpuTiming timing = GpuTiming::cupti;
  std::string note;  ///< Why CUPTI was asked for and events were taken; empty elsewhere.
  std::vector<KernelRun> kernels;
  std::vector<Unattributed> unattributed;
  std::int64_t works = 0;   ///< Kernels, copies and memsets.
  std::int64_t sum_ns = 0;  ///< Of their times.
  /// While at least one ran, and from the first one's begin to the last one's end.
  std::int64_t busy_ns = 0, span_ns = 0;
  std::int64_t median_delay_ns = 0;  ///< From the end of a call to the begin of what it asked for.
  std::int64_t dropped_records = 0, unreadable_records = 0;  ///< Over all steps.
  /// Of each step that was not recorded: until the host had asked for everything.
  std::vector<double> host_us;
  std::vector<double> recorded_step_us;  ///< Of each step while it was recorded, as they ran.
  /// Of PyTorch's caching allocator in the steps that were not recorded.
  std::int64_t peak_allocated_bytes = 0, peak_reserved_bytes = 0;
  std::string driver_version;  ///< Empty, and the others null, where NVML is not there.
  std::optional<double> power_watts, clock_hz;

  double median_recorded_us() const;
  double median_host_us() const;
};

struct Run {
  std::string model;
  std::string device;        ///< "cpu", "cuda:0".
  std::string processor;     ///< As the system calls it; empty where it does not.
  std::int64_t threads = 1;  ///< That operators use.
  std::string torch_version;
  std::vector<double> step_us;  ///< Of each step without a clock at its calls, as they ran.
  /// Of the processors' time, while steps ran on a CPU: what other programs took. Empty where the
  /// system does not say.
  std::optional<double> others_share;
  std::vector<NodeRun> nodes;    ///< By NodeId.
  std::optional<DeviceRun> gpu;  ///< Of a run on a GPU: the nodes' times are the GPU's.
  /// The last of the steps that were timed call by call; empty where nobody asked, or where events
  /// timed them.
  std::optional<Timeline> timeline;

  double median_step_us() const;
  /// Of the step: half of all lie between the two.
  double lower_quartile_us() const;
  double upper_quartile_us() const;
};

/// `run` as the times of the nodes of `recording`. What the step takes outside of its operators is
/// no node's. Throws Error where the run is of another model.
Measurement measurement_of(const Run& run, const Recording& recording);

/// A run as JSON, schema symprof.run/1, and back. Reading throws Error that names the key.
std::string to_json(const Run& run);
Run parse_run(const std::string& json, const std::string& path);

}  // namespace symprof::measure
