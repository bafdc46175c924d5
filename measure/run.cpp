#include "measure/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

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

constexpr std::array phases = {std::pair{"forward", Phase::forward}, std::pair{"loss", Phase::loss},
                               std::pair{"backward", Phase::backward},
                               std::pair{"recompute", Phase::recompute},
                               std::pair{"optimizer", Phase::optimizer}};

std::string name_of(Phase phase) {
  return std::ranges::find(phases, phase, &std::pair<const char*, Phase>::second)->first;
}

Phase phase_of(const std::string& name) {
  for (const auto& [known, phase] : phases)
    if (name == known) return phase;
  throw Error("phase", fmt::format("is '{}'.", name), "Measure again.");
}

nlohmann::ordered_json times_to_json(const Times& times) {
  return {{"fwd_us", to_us(times.forward_ns)},
          {"bwd_us", to_us(times.backward_ns)},
          {"optimizer_us", to_us(times.optimizer_ns)}};
}

Times parse_times(const nlohmann::json& json) {
  return {.forward_ns = to_ns(json.at("fwd_us")),
          .backward_ns = to_ns(json.at("bwd_us")),
          .optimizer_ns = to_ns(json.at("optimizer_us"))};
}

template <class Number>
nlohmann::ordered_json or_null(const std::optional<Number>& number) {
  return number ? nlohmann::ordered_json(*number) : nlohmann::ordered_json();
}

std::optional<double> number_or_null(const nlohmann::json& json) {
  return json.is_null() ? std::nullopt : std::optional(json.get<double>());
}

nlohmann::ordered_json kernel_to_json(const KernelRun& kernel) {
  return {{"node", kernel.node},
          {"phase", name_of(kernel.phase)},
          {"op", kernel.op},
          {"name", kernel.name},
          {"grid", kernel.grid},
          {"block", kernel.block},
          {"registers", kernel.registers},
          {"static_shared_bytes", kernel.static_shared_bytes},
          {"dynamic_shared_bytes", kernel.dynamic_shared_bytes},
          {"bytes", kernel.bytes},
          {"count", kernel.count},
          {"us", to_us(kernel.ns)}};
}

KernelRun parse_kernel(const nlohmann::json& json) {
  return {.node = json.at("node"),
          .phase = phase_of(json.at("phase")),
          .op = json.at("op"),
          .name = json.at("name"),
          .grid = json.at("grid"),
          .block = json.at("block"),
          .registers = json.at("registers"),
          .static_shared_bytes = json.at("static_shared_bytes"),
          .dynamic_shared_bytes = json.at("dynamic_shared_bytes"),
          .bytes = json.at("bytes"),
          .count = json.at("count"),
          .ns = to_ns(json.at("us"))};
}

nlohmann::ordered_json gpu_to_json(const DeviceRun& gpu) {
  nlohmann::ordered_json json = {{"source", gpu.timing == GpuTiming::cupti ? "cupti" : "events"},
                                 {"note", gpu.note},
                                 {"driver", gpu.driver_version},
                                 {"power_watts", or_null(gpu.power_watts)},
                                 {"clock_hz", or_null(gpu.clock_hz)},
                                 {"peak_allocated_bytes", gpu.peak_allocated_bytes},
                                 {"peak_reserved_bytes", gpu.peak_reserved_bytes},
                                 {"host_us", gpu.host_us},
                                 {"recorded_step_us", gpu.recorded_step_us},
                                 {"works", gpu.works},
                                 {"sum_us", to_us(gpu.sum_ns)},
                                 {"busy_us", to_us(gpu.busy_ns)},
                                 {"span_us", to_us(gpu.span_ns)},
                                 {"median_delay_us", to_us(gpu.median_delay_ns)},
                                 {"dropped_records", gpu.dropped_records},
                                 {"unreadable_records", gpu.unreadable_records}};
  auto& loose = json["unattributed"] = nlohmann::ordered_json::array();
  for (const Unattributed& entry : gpu.unattributed) {
    loose.push_back({{"name", entry.name}, {"why", entry.why}});
    loose.back().update(times_to_json(entry.times));
  }
  auto& kernels = json["kernels"] = nlohmann::ordered_json::array();
  for (const KernelRun& kernel : gpu.kernels) kernels.push_back(kernel_to_json(kernel));
  return json;
}

DeviceRun parse_gpu(const nlohmann::json& json) {
  DeviceRun gpu{.timing = json.at("source") == "cupti" ? GpuTiming::cupti : GpuTiming::events,
                .note = json.at("note"),
                .works = json.at("works"),
                .sum_ns = to_ns(json.at("sum_us")),
                .busy_ns = to_ns(json.at("busy_us")),
                .span_ns = to_ns(json.at("span_us")),
                .median_delay_ns = to_ns(json.at("median_delay_us")),
                .dropped_records = json.at("dropped_records"),
                .unreadable_records = json.at("unreadable_records"),
                .host_us = json.value("host_us", std::vector<double>{}),
                .recorded_step_us = json.at("recorded_step_us").get<std::vector<double>>(),
                .peak_allocated_bytes = json.at("peak_allocated_bytes"),
                .peak_reserved_bytes = json.at("peak_reserved_bytes"),
                .driver_version = json.at("driver"),
                .power_watts = number_or_null(json.at("power_watts")),
                .clock_hz = number_or_null(json.at("clock_hz"))};
  for (const auto& entry : json.at("unattributed"))
    gpu.unattributed.push_back(
        {.name = entry.at("name"), .why = entry.at("why"), .times = parse_times(entry)});
  for (const auto& kernel : json.at("kernels")) gpu.kernels.push_back(parse_kernel(kernel));
  return gpu;
}

NodeRun parse_node(const nlohmann::json& node) {
  return {.name = node.at("name"), .op = node.at("op"), .times = parse_times(node)};
}

}  // namespace

double DeviceRun::median_recorded_us() const { return quantile(recorded_step_us, 0.5); }
double DeviceRun::median_host_us() const { return quantile(host_us, 0.5); }
double Run::median_step_us() const { return quantile(step_us, 0.5); }
double Run::lower_quartile_us() const { return quantile(step_us, 0.25); }
double Run::upper_quartile_us() const { return quantile(step_us, 0.75); }

namespace {

/// What the host's step takes beyond its operators.
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
    add_rest(result, to_ns(run.median_step_us()));
  return result;
}

std::string to_json(const Run& run) {
  nlohmann::ordered_json json = {{"schema", schema},       {"model", run.model},
                                 {"device", run.device},   {"processor", run.processor},
                                 {"threads", run.threads}, {"torch", run.torch_version},
                                 {"step_us", run.step_us}};
  json["gpu"] = run.gpu ? gpu_to_json(*run.gpu) : nlohmann::ordered_json();
  auto& nodes = json["nodes"] = nlohmann::ordered_json::array();
  for (const NodeRun& node : run.nodes) {
    nodes.push_back({{"name", node.name}, {"op", node.op}});
    nodes.back().update(times_to_json(node.times));
  }
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
  if (json.contains("gpu") && !json.at("gpu").is_null()) run.gpu = parse_gpu(json.at("gpu"));
  for (const auto& node : json.at("nodes")) run.nodes.push_back(parse_node(node));
  return run;
} catch (const nlohmann::json::exception& error) {
  throw Error(path, fmt::format("is no run of symprof ({}).", error.what()),
              "`symprof measure` writes one.");
}

}  // namespace symprof::measure
