#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.h"
#include "measure/run.h"

namespace symprof::measure {
namespace {

constexpr auto schema = "symprof.run/1";

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

constexpr std::array work_kinds = {std::pair{"kernel", Activity::Kind::kernel},
                                   std::pair{"copy", Activity::Kind::copy},
                                   std::pair{"set", Activity::Kind::set}};

Activity::Kind work_kind_of(const std::string& name) {
  for (const auto& [known, kind] : work_kinds)
    if (name == known) return kind;
  throw Error("kind", fmt::format("is '{}'.", name), "Measure again.");
}

nlohmann::ordered_json timeline_to_json(const Timeline& timeline) {
  nlohmann::ordered_json calls = nlohmann::ordered_json::array(), works = calls;
  for (const TimelineCall& call : timeline.calls)
    calls.push_back({{"op", call.op},
                     {"node", call.node},
                     {"phase", name_of(call.phase)},
                     {"begin_us", to_us(call.begin_ns)},
                     {"end_us", to_us(call.end_ns)}});
  for (const TimelineWork& work : timeline.works)
    works.push_back({{"name", work.name},
                     {"kind", std::ranges::find(work_kinds, work.kind,
                                                &std::pair<const char*, Activity::Kind>::second)
                                  ->first},
                     {"call", work.call},
                     {"begin_us", to_us(work.begin_ns)},
                     {"end_us", to_us(work.end_ns)},
                     {"device", work.device},
                     {"stream", work.stream}});
  return {{"calls", std::move(calls)}, {"works", std::move(works)}};
}

/// Parses the timeline of a run with `nodes` nodes.
Timeline parse_timeline(const nlohmann::json& json, std::int64_t nodes) {
  const auto check = [](const char* what, std::int64_t index, std::int64_t count) {
    if (index < none || index >= count)
      throw Error("timeline", fmt::format("names {} {} of {}.", what, index, count),
                  "Measure again.");
  };
  Timeline timeline;
  for (const auto& call : json.at("calls")) {
    timeline.calls.push_back({.op = call.at("op"),
                              .node = call.at("node"),
                              .phase = phase_of(call.at("phase")),
                              .begin_ns = to_ns(call.at("begin_us")),
                              .end_ns = to_ns(call.at("end_us"))});
    check("node", timeline.calls.back().node, nodes);
  }
  for (const auto& work : json.at("works")) {
    timeline.works.push_back({.name = work.at("name"),
                              .kind = work_kind_of(work.at("kind")),
                              .call = work.at("call"),
                              .begin_ns = to_ns(work.at("begin_us")),
                              .end_ns = to_ns(work.at("end_us")),
                              .device = work.at("device"),
                              .stream = work.at("stream")});
    check("call", timeline.works.back().call, std::ssize(timeline.calls));
  }
  return timeline;
}

NodeRun parse_node(const nlohmann::json& node) {
  return {.name = node.at("name"), .op = node.at("op"), .times = parse_times(node)};
}

}  // namespace

std::string to_json(const Run& run) {
  nlohmann::ordered_json json = {{"schema", schema},       {"model", run.model},
                                 {"device", run.device},   {"processor", run.processor},
                                 {"threads", run.threads}, {"torch", run.torch_version},
                                 {"step_us", run.step_us}};
  if (run.others_share) json["others_share"] = *run.others_share;
  json["gpu"] = run.gpu ? gpu_to_json(*run.gpu) : nlohmann::ordered_json();
  auto& nodes = json["nodes"] = nlohmann::ordered_json::array();
  for (const NodeRun& node : run.nodes) {
    nodes.push_back({{"name", node.name}, {"op", node.op}});
    nodes.back().update(times_to_json(node.times));
  }
  if (run.timeline) json["timeline"] = timeline_to_json(*run.timeline);
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
          .others_share = {},
          .nodes = {},
          .timeline = {}};
  if (json.contains("others_share")) run.others_share = json.at("others_share").get<double>();
  if (json.contains("gpu") && !json.at("gpu").is_null()) run.gpu = parse_gpu(json.at("gpu"));
  for (const auto& node : json.at("nodes")) run.nodes.push_back(parse_node(node));
  if (json.contains("timeline"))
    run.timeline = parse_timeline(json.at("timeline"), std::ssize(run.nodes));
  return run;
} catch (const nlohmann::json::exception& error) {
  throw Error(path, fmt::format("is no run of symprof ({}).", error.what()),
              "`symprof measure` writes one.");
}

}  // namespace symprof::measure
