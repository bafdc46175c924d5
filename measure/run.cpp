#include "measure/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace symprof::measure {
namespace {

double quantile(std::vector<double> values, double part) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const double at = part * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (at - static_cast<double>(below)) * (values[above] - values[below]);
}

}  // namespace

double DeviceRun::median_recorded_us() const { return quantile(recorded_step_us, 0.5); }
double DeviceRun::median_host_us() const { return quantile(host_us, 0.5); }
double Run::median_step_us() const { return quantile(step_us, 0.5); }
double Run::lower_quartile_us() const { return quantile(step_us, 0.25); }
double Run::upper_quartile_us() const { return quantile(step_us, 0.75); }

namespace {

/// Adds the host step's time outside of operators.
void add_rest(Measurement& result, std::int64_t step_ns) {
  const std::int64_t outside = step_ns - result.total.total_ns();
  if (outside > 0) {
    result.unattributed.push_back({.name = "outside of operators",
                                   .why = "between the calls: the host's own work",
                                   .times = {.forward_ns = outside}});
    result.total.forward_ns += outside;
  }
  result.busy_ns = result.total.total_ns();
}

void add_device(Measurement& result, const DeviceRun& gpu) {
  result.unattributed = gpu.unattributed;
  for (const Unattributed& entry : gpu.unattributed) result.total += entry.times;
  result.busy_ns = gpu.busy_ns;
  result.unreadable_events = gpu.unreadable_records;
}

}  // namespace

Measurement measurement_of(const Run& run, const Recording& recording) {
  Measurement result{.path = run.model,
                     .device_name = run.processor.empty() ? run.device : run.processor,
                     .clock = run.gpu ? Measurement::Clock::device : Measurement::Clock::host,
                     .steps = static_cast<std::int64_t>(run.step_us.size()),
                     .run = std::make_shared<const Run>(run)};
  if (run.nodes.size() != recording.nodes.size())
    throw Error(run.model,
                fmt::format("the run has {} nodes and the model {}.", run.nodes.size(),
                            recording.nodes.size()),
                "Measure this model with the same options.");
  for (std::size_t i = 0; i < run.nodes.size(); ++i) {
    const NodeRecord& node = recording.nodes[i];
    if (run.nodes[i].name != node.name || run.nodes[i].op != node.op)
      throw Error(run.model,
                  fmt::format("node {} is {} ({}) in the run and {} ({}) in the model.", i,
                              run.nodes[i].name, run.nodes[i].op, node.name, node.op),
                  "Measure this model with the same options.");
    result.nodes.push_back(run.nodes[i].times);
    result.total += run.nodes[i].times;
  }
  if (run.gpu)
    add_device(result, *run.gpu);
  else
    add_rest(result, std::llround(run.median_step_us() * 1e3));
  return result;
}

}  // namespace symprof::measure
