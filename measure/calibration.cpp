#include "measure/calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "profile/time/sweep.h"

namespace symprof::measure {
namespace {

using Json = nlohmann::ordered_json;

/// A 90 % interval needs at least ten.
constexpr std::size_t fewest_rounds = 10;

template <class T>
void put(Json& json, const char* key, const std::optional<T>& value) {
  if (value) json[key] = *value;
}
void put(Json& json, const char* key, const std::string& value) {
  if (!value.empty()) json[key] = value;
}

template <class T>
void get(const Json& json, const char* key, std::optional<T>& value) {
  if (json.contains(key)) value = json[key].get<T>();
}

Json json_of(const DeviceFacts& facts) {
  Json json = Json::object();
  put(json, "device", facts.device);
  put(json, "processor", facts.processor);
  put(json, "torch_version", facts.torch_version);
  put(json, "driver_version", facts.driver_version);
  put(json, "date", facts.date);
  json["threads"] = facts.threads;
  put(json, "memory_bytes", facts.memory_bytes);
  put(json, "l2_bytes", facts.l2_bytes);
  put(json, "memory_bytes_per_second", facts.memory_bytes_per_second);
  for (const auto& [dtype, rate] : facts.flops_per_second) json["flops_per_second"][dtype] = rate;
  put(json, "clock_hz", facts.clock_hz);
  put(json, "power_watts", facts.power_watts);
  put(json, "host_call_us", facts.host_call_us);
  put(json, "launch_us", facts.launch_us);
  put(json, "graph_launch_us", facts.graph_launch_us);
  put(json, "kernel_gap_us", facts.kernel_gap_us);
  put(json, "context_bytes", facts.context_bytes);
  put(json, "others_share", facts.others_share);
  return json;
}

DeviceFacts facts_in(const Json& json) {
  DeviceFacts facts{.device = json.value("device", ""),
                    .processor = json.value("processor", ""),
                    .torch_version = json.value("torch_version", ""),
                    .driver_version = json.value("driver_version", ""),
                    .date = json.value("date", ""),
                    .threads = json.value("threads", std::int64_t{0})};
  get(json, "memory_bytes", facts.memory_bytes);
  get(json, "l2_bytes", facts.l2_bytes);
  get(json, "memory_bytes_per_second", facts.memory_bytes_per_second);
  if (json.contains("flops_per_second"))
    for (const auto& [dtype, rate] : json["flops_per_second"].items())
      facts.flops_per_second.emplace_back(dtype, rate.get<double>());
  get(json, "clock_hz", facts.clock_hz);
  get(json, "power_watts", facts.power_watts);
  get(json, "host_call_us", facts.host_call_us);
  get(json, "launch_us", facts.launch_us);
  get(json, "graph_launch_us", facts.graph_launch_us);
  get(json, "kernel_gap_us", facts.kernel_gap_us);
  get(json, "context_bytes", facts.context_bytes);
  get(json, "others_share", facts.others_share);
  return facts;
}

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

/// Appends a member of the file, one row per line.
void append_rows(std::string& text, const char* key, const Json& rows) {
  text += fmt::format(",\n \"{}\": [", key);
  const char* separator = "\n  ";
  for (const Json& row : rows) {
    text += separator + row.dump();
    separator = ",\n  ";
  }
  text += "\n ]";
}

}  // namespace

std::string to_json(const Calibration& calibration) {
  Json json = Json::parse(profile::to_json(calibration.kernels));
  json["device"] = json_of(calibration.facts);
  std::string text = fmt::format("{{\"schema\": {},\n \"device\": {}", json["schema"].dump(),
                                 json["device"].dump());
  append_rows(text, "repeated", Json::parse(profile::to_json(calibration.repeated))["kernels"]);
  append_rows(text, "kernels", json["kernels"]);
  return text + "}\n";
}

Calibration parse_calibration(const std::string& text, const std::string& path) {
  Calibration calibration{
      .facts = {}, .kernels = profile::parse_measurements(text, path), .repeated = {}};
  try {
    const Json json = Json::parse(text);
    if (json.contains("device")) calibration.facts = facts_in(json["device"]);
    if (json.contains("repeated")) {
      const Json rows = {{"schema", json["schema"]}, {"kernels", json["repeated"]}};
      calibration.repeated = profile::parse_measurements(rows.dump(), path + ", 'repeated'");
    }
  } catch (const nlohmann::json::exception& error) {
    throw Error(path, fmt::format("'device' or 'repeated' is not well-formed ({})", error.what()),
                "Give the file of an earlier sweep, or begin a new one.");
  }
  return calibration;
}

std::optional<double> speed_half_width(const std::vector<profile::MeasuredKernel>& repeated) {
  std::map<profile::Kernel, std::vector<double>> times;
  for (const profile::MeasuredKernel& row : repeated) times[row.kernel].push_back(row.us);
  std::size_t rounds = times.empty() ? 0 : SIZE_MAX;
  for (const auto& [kernel, us] : times) rounds = std::min(rounds, us.size());
  if (rounds < fewest_rounds) return std::nullopt;
  std::vector<double> changes(rounds);
  for (const auto& [kernel, us] : times) {
    const double median = median_of(us);
    for (std::size_t i = 0; i < rounds; ++i)
      changes[i] += std::log(us[i] / median) / static_cast<double>(times.size());
  }
  for (double& change : changes) change = std::abs(change);
  std::ranges::sort(changes);
  return changes[(rounds * 9 + 9) / 10 - 1];
}

}  // namespace symprof::measure
