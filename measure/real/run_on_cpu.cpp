#include "measure/real/run_on_cpu.h"

#include <ATen/Parallel.h>
#include <torch/version.h>

#include <algorithm>
#include <fstream>

#include "base/text.h"
#include "measure/real/real_step.h"
#include "shape/interpreter/unsupported.h"

namespace symprof::measure {
namespace {

std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name"))
      return std::string(trimmed(std::string_view(line).substr(line.find(':') + 1)));
  return {};
}

std::int64_t median(std::vector<std::int64_t> values) {
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

Times median_of(const std::vector<std::vector<Times>>& steps, std::size_t node) {
  Times result;
  for (const auto member : {&Times::forward_ns, &Times::backward_ns, &Times::optimizer_ns}) {
    std::vector<std::int64_t> values;
    values.reserve(steps.size());
    for (const std::vector<Times>& step : steps) values.push_back(step[node].*member);
    result.*member = median(std::move(values));
  }
  return result;
}

}  // namespace

Run run_on_cpu(const Graph& graph, const StepOptions& step, const RunOptions& options) {
  shape::check_operators(graph);
  real::RealStep real(graph, step);
  const auto tell = [&](std::int64_t done) {
    if (step.progress) step.progress("measure", done, options.warm_up + 2 * options.steps);
  };
  Run run{.model = graph.path,
          .device = "cpu",
          .processor = processor(),
          .threads = at::get_num_threads(),
          .torch_version = TORCH_VERSION,
          .step_us = {},
          .nodes = {}};
  std::int64_t done = 0;
  for (std::int64_t i = 0; i < options.warm_up; ++i) real.run(nullptr), tell(++done);
  for (std::int64_t i = 0; i < options.steps; ++i) {
    run.step_us.push_back(static_cast<double>(real.run(nullptr)) / 1e3);
    tell(++done);
  }
  real::CallClock clock(real.names().size());
  std::vector<std::vector<Times>> steps;
  for (std::int64_t i = 0; i < options.steps; ++i) {
    real.run(&clock);
    steps.push_back(clock.take());
    tell(++done);
  }
  for (std::size_t i = 0; i < real.names().size(); ++i)
    run.nodes.push_back({.name = real.names()[i].first,
                         .op = real.names()[i].second,
                         .times = median_of(steps, i)});
  return run;
}

}  // namespace symprof::measure
