#include "measure/real/run_on_device.h"

#include <ATen/Parallel.h>
#include <torch/version.h>

#include <utility>

#include "base/error.h"
#include "measure/cupti/client.h"
#include "measure/cupti/step.h"
#include "measure/gpu.h"
#include "measure/median_times.h"
#include "measure/processor.h"
#include "measure/real/call_clock.h"
#include "measure/real/call_events.h"
#include "measure/real/call_ids.h"
#include "measure/real/device.h"
#include "measure/real/real_step.h"
#include "shape/interpreter/unsupported.h"

namespace symprof::measure {
namespace {

/// Runs steps and reports progress.
class Steps {
 public:
  Steps(real::RealStep& step, const RunOptions& options, const StepOptions& recipe)
      : step_(step), options_(options), recipe_(recipe) {}

  /// Preparation, excluded from the step's time.
  void prepare() { step_.prepare(); }
  /// Microseconds of a prepared step.
  double run_prepared_us() {
    const real::RealStep::Duration duration = step_.run();
    const auto us = static_cast<double>(duration.ns) / 1e3;
    host_us_ = static_cast<double>(duration.host_ns) / 1e3;
    if (recipe_.progress)
      recipe_.progress("measure", ++done_, options_.warm_up + 2 * options_.steps);
    return us;
  }
  double run_us() {
    prepare();
    return run_prepared_us();
  }
  /// Host microseconds of the last step, until everything was issued.
  double host_us() const { return host_us_; }

 private:
  real::RealStep& step_;
  const RunOptions& options_;
  const StepOptions& recipe_;
  std::int64_t done_ = 0;
  double host_us_ = 0;
};

/// Results of the steps with per-node times: medians, and the timeline of the last one.
struct Recorded {
  DeviceRun run;  ///< Of a GPU.
  std::vector<Times> nodes;
  std::optional<Timeline> timeline;
};

Recorded timed_by_clock(real::RealStep& step, Steps& steps, const RunOptions& options) {
  real::CallClock clock(step.places(), step.names().size(), options.keeps_timeline);
  std::vector<std::vector<Times>> times;
  Recorded result;
  for (std::int64_t i = 0; i < options.steps; ++i) {
    steps.prepare();
    clock.take();
    clock.take_calls();
    steps.run_prepared_us();
    times.push_back(clock.take());
  }
  result.nodes = median_times(times);
  if (!options.keeps_timeline) return result;
  result.timeline.emplace().calls = clock.take_calls();
  result.timeline->begin_at_zero();
  return result;
}

Recorded recorded_by_cupti(real::RealStep& step, Steps& steps, const RunOptions& options) {
  cupti::Client client;
  real::CallIds ids(step.places(), client, options.keeps_timeline);
  steps.run_us();  // Warm-up: CUPTI's first buffers, and its lazy loading at the first kernel.
  std::vector<cupti::Step> recorded;
  std::vector<std::vector<Times>> times;
  std::vector<double> step_us;
  std::optional<Timeline> timeline;
  for (std::int64_t i = 0; i < options.steps; ++i) {
    steps.prepare();
    client.take();
    ids.take();
    step_us.push_back(steps.run_prepared_us());
    const cupti::Records records = client.take();
    const real::CallIds::Calls calls = ids.take();
    recorded.push_back(cupti::summarize(records, calls.calls, calls.first_id, step.names().size()));
    times.push_back(recorded.back().nodes);
    if (options.keeps_timeline && i + 1 == options.steps)
      timeline = cupti::timeline_of(records, calls.calls, calls.first_id);
  }
  Recorded result{.run = cupti::median_of(recorded),
                  .nodes = median_times(times),
                  .timeline = std::move(timeline)};
  result.run.recorded_step_us = std::move(step_us);
  return result;
}

Recorded timed_by_events(real::RealStep& step, Steps& steps, std::int64_t count,
                         c10::Device device) {
  real::CallEvents events(step.places(), device, step.names().size());
  std::vector<std::vector<Times>> times;
  Recorded result{.run = {.timing = GpuTiming::events}, .nodes = {}, .timeline = {}};
  for (std::int64_t i = 0; i < count; ++i) {
    steps.prepare();
    events.take();
    result.run.recorded_step_us.push_back(steps.run_prepared_us());
    times.push_back(events.take());
  }
  result.nodes = median_times(times);
  for (const Times& node : result.nodes) result.run.sum_ns += node.total_ns();
  result.run.busy_ns = result.run.sum_ns;
  return result;
}

Recorded recorded_on_gpu(real::RealStep& step, Steps& steps, const RunOptions& options,
                         c10::Device device) {
  std::string note;
  if (options.gpu_timing == GpuTiming::cupti) try {
      return recorded_by_cupti(step, steps, options);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::not_available) throw;
      note = error.summary();
    }
  Recorded result = timed_by_events(step, steps, options.steps, device);
  result.run.note = std::move(note);
  return result;
}

}  // namespace

Run run_on_device(const Graph& graph, const StepOptions& recipe, const RunOptions& options) {
  shape::check_operators(graph, shape::ShapesOfFile::are_refused);
  const c10::Device device = real::device_of(options.device);
  real::keep_freed_memory(device);
  real::RealStep step(graph, recipe, device);
  Steps steps(step, options, recipe);
  Run run{.model = graph.path,
          .device = device.str(),
          .processor = device.is_cpu() ? processor_name() : gpu::name_of(device.index()),
          .threads = at::get_num_threads(),
          .torch_version = TORCH_VERSION,
          .step_us = {},
          .others_share = {},
          .nodes = {},
          .timeline = {}};
  for (std::int64_t i = 0; i < options.warm_up; ++i) steps.run_us();
  real::reset_peaks(device);
  std::vector<double> host_us;
  const OtherPrograms others;
  for (std::int64_t i = 0; i < options.steps; ++i) {
    run.step_us.push_back(steps.run_us());
    host_us.push_back(steps.host_us());
  }
  Recorded recorded;
  if (device.is_cpu()) {
    recorded = timed_by_clock(step, steps, options);
    run.others_share = others.share();
  } else {
    const real::Peaks peaks = real::peaks_of(device);
    const gpu::State state = gpu::state_of(device.index());
    recorded = recorded_on_gpu(step, steps, options, device);
    run.gpu = std::move(recorded.run);
    run.gpu->host_us = std::move(host_us);
    run.gpu->peak_allocated_bytes = peaks.allocated_bytes;
    run.gpu->peak_reserved_bytes = peaks.reserved_bytes;
    run.gpu->driver_version = state.driver_version;
    run.gpu->power_watts = state.power_watts;
    run.gpu->clock_hz = state.clock_hz;
  }
  for (std::size_t i = 0; i < step.names().size(); ++i)
    run.nodes.push_back(
        {.name = step.names()[i].first, .op = step.names()[i].second, .times = recorded.nodes[i]});
  run.timeline = std::move(recorded.timeline);
  return run;
}

}  // namespace symprof::measure
