#include "measure/calibration.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "profile/time/sweep.h"

namespace symprof::measure {
namespace {

using Json = nlohmann::ordered_json;

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
  put(json, "context_bytes", facts.context_bytes);
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
  get(json, "context_bytes", facts.context_bytes);
  return facts;
}

}  // namespace

std::string to_json(const Calibration& calibration) {
  Json json = Json::parse(profile::to_json(calibration.kernels));
  json["device"] = json_of(calibration.facts);
  std::string text = fmt::format("{{\"schema\": {},\n \"device\": {},\n \"kernels\": [",
                                 json["schema"].dump(), json["device"].dump());
  const char* separator = "\n  ";
  for (const Json& kernel : json["kernels"]) {
    text += separator + kernel.dump();
    separator = ",\n  ";
  }
  return text + "\n ]}\n";
}

Calibration parse_calibration(const std::string& text, const std::string& path) {
  Calibration calibration{.facts = {}, .kernels = profile::parse_measurements(text, path)};
  try {
    const Json json = Json::parse(text);
    if (json.contains("device")) calibration.facts = facts_in(json["device"]);
  } catch (const nlohmann::json::exception& error) {
    throw Error(path, fmt::format("'device' is not well-formed ({})", error.what()),
                "Give the file of an earlier sweep, or begin a new one.");
  }
  return calibration;
}

}  // namespace symprof::measure
