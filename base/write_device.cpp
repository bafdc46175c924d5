// Writes device files: the inverse of device_spec.cpp.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/device_spec.h"

namespace symprof {
namespace {

using Written = nlohmann::ordered_json;

/// Rounds to four digits, the accuracy of the measurements.
double rounded(double value) {
  const double scale = std::pow(10.0, 3 - std::floor(std::log10(std::abs(value))));
  return std::round(value * scale) / scale;
}

/// Large rates are integers, as in the shipped files.
Written rate_of(double value) {
  constexpr double large = 1e6;
  if (value >= large) return static_cast<std::int64_t>(value);
  return value == 0 ? 0 : rounded(value);
}

void put(Written& json, const char* key, const std::optional<double>& value) {
  if (value) json[key] = rate_of(*value);
}
void put(Written& json, const char* key, const std::optional<std::int64_t>& value) {
  if (value) json[key] = *value;
}

Written properties_of(const DeviceSpec& device) {
  Written json{{"name", device.name}, {"description", device.description}};
  if (!device.cuda_name.empty()) json["cuda_name"] = device.cuda_name;
  if (device.is_cpu) json["is_cpu"] = true;
  json["compute_capability"] = fmt::format("{}.{}", device.compute_major, device.compute_minor);
  json["multiprocessors"] = device.multiprocessors;
  json["memory_bytes"] = device.memory_bytes;
  json["cudnn_version"] = device.cudnn_version;
  json["cuda_version"] = device.cuda_version;
  put(json, "context_bytes", device.context_bytes);
  json["cublas_workspace_bytes"] = device.cublas_workspace_bytes;
  if (device.cudnn_copies_operands) json["cudnn_copies_operands"] = true;
  json["shared_memory_per_block_optin_bytes"] = device.shared_memory_per_block_optin_bytes;
  put(json, "memory_bytes_per_second", device.memory_bytes_per_second);
  for (const auto& [dtype, rate] : device.flops_per_second)
    json["flops_per_second"][dtype] = rate_of(rate);
  put(json, "clock_hz", device.clock_hz);
  put(json, "l2_bytes", device.l2_bytes);
  if (!device.memory_type.empty()) json["memory_type"] = device.memory_type;
  put(json, "power_watts", device.power_watts);
  put(json, "power_limit_watts", device.power_limit_watts);
  put(json, "clock_limit_hz", device.clock_limit_hz);
  put(json, "process_nm", device.process_nm);
  put(json, "launch_us", device.launch_us);
  put(json, "graph_launch_us", device.graph_launch_us);
  put(json, "kernel_gap_us", device.kernel_gap_us);
  put(json, "host_call_us", device.host_call_us);
  put(json, "host_launch_us", device.host_launch_us);
  put(json, "speed_half_width", device.speed_half_width);
  put(json, "nvlink_bytes_per_second", device.nvlink_bytes_per_second);
  put(json, "pcie_bytes_per_second", device.pcie_bytes_per_second);
  json["source"] = device.source;
  return json;
}

}  // namespace

std::string to_json(const DeviceSpec& device, const std::string& times) {
  std::string text = properties_of(device).dump(2);
  if (times.empty()) return text + "\n";
  text.resize(text.find_last_not_of("\n}") + 1);
  text += ",\n  \"classes\": {";
  const char* separator = "\n    ";
  const Written classes = Written::parse(times).at("classes");
  for (const auto& [name, value] : classes.items()) {
    text += fmt::format("{}\"{}\": {}", separator, name, value.dump());
    separator = ",\n    ";
  }
  return text + "\n  }\n}\n";
}

}  // namespace symprof
