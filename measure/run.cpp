#include "measure/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace symprof::measure {
namespace {

constexpr auto schema = "symprof.run/1";

double quantile(std::vector<double> values, double part) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const double at = part * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (at - static_cast<double>(below)) * (values[above] - values[below]);
}

double to_us(std::int64_t ns) { return static_cast<double>(ns) / 1e3; }
std::int64_t to_ns(double us) { return std::llround(us * 1e3); }

NodeRun parse_node(const nlohmann::json& node) {
  return {.name = node.at("name"),
          .op = node.at("op"),
          .times = {.forward_ns = to_ns(node.at("fwd_us")),
                    .backward_ns = to_ns(node.at("bwd_us")),
                    .optimizer_ns = to_ns(node.at("optimizer_us"))}};
}

}  // namespace

double Run::median_step_us() const { return quantile(step_us, 0.5); }
double Run::lower_quartile_us() const { return quantile(step_us, 0.25); }
double Run::upper_quartile_us() const { return quantile(step_us, 0.75); }

Measurement measurement_of(const Run& run, const Recording& recording) {
  Measurement result{.path = run.model,
                     .device_name = run.processor.empty() ? run.device : run.processor,
                     .clock = Measurement::Clock::host};
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
  const std::int64_t outside = to_ns(run.median_step_us()) - result.total.total_ns();
  if (outside > 0) {
    result.unattributed.push_back({.name = "outside of operators",
                                   .why = "between the calls: the host's own work",
                                   .times = {.forward_ns = outside}});
    result.total.forward_ns += outside;
  }
  result.steps = static_cast<std::int64_t>(run.step_us.size());
  result.busy_ns = result.total.total_ns();
  return result;
}

std::string to_json(const Run& run) {
  nlohmann::ordered_json json = {{"schema", schema},       {"model", run.model},
                                 {"device", run.device},   {"processor", run.processor},
                                 {"threads", run.threads}, {"torch", run.torch_version},
                                 {"step_us", run.step_us}};
  auto& nodes = json["nodes"] = nlohmann::ordered_json::array();
  for (const NodeRun& node : run.nodes)
    nodes.push_back({{"name", node.name},
                     {"op", node.op},
                     {"fwd_us", to_us(node.times.forward_ns)},
                     {"bwd_us", to_us(node.times.backward_ns)},
                     {"optimizer_us", to_us(node.times.optimizer_ns)}});
  return json.dump(1) + "\n";
}

Run parse_run(const std::string& text, const std::string& path) try {
  const auto json = nlohmann::json::parse(text);
  if (json.at("schema") != schema)
    throw Error(path, fmt::format("has the schema {}, not {}.", json.at("schema").dump(), schema),
                "Measure again.");
  Run run{.model = json.at("model"),
          .device = json.at("device"),
          .processor = json.at("processor"),
          .threads = json.at("threads"),
          .torch_version = json.at("torch"),
          .step_us = json.at("step_us").get<std::vector<double>>(),
          .nodes = {}};
  for (const auto& node : json.at("nodes")) run.nodes.push_back(parse_node(node));
  return run;
} catch (const nlohmann::json::exception& error) {
  throw Error(path, fmt::format("is no run of symprof ({}).", error.what()),
              "`symprof measure` writes one.");
}

}  // namespace symprof::measure
