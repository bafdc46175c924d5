#include "report/profile/devices.h"

#include <algorithm>

#include "report/write/format_number.h"
#include "report/write/json_writer.h"
#include "report/write/text_table.h"

namespace symprof::report {
namespace {

TextCell rate_cell(const std::optional<double>& per_second, std::string_view unit) {
  if (!per_second) return {"?", "", Emphasis::faint};
  return {fmt::format("{:.2f}", *per_second / 1e12), fmt::format("T{}/s", unit)};
}

std::optional<double> peak(const DeviceSpec& device, std::string_view dtype) {
  for (const auto& [name, rate] : device.flops_per_second)
    if (name == dtype) return rate;
  return std::nullopt;
}

TextCell memory_cell(std::int64_t bytes) {
  if (bytes == 0) return {"?", "", Emphasis::faint};
  const Quantity quantity = scale_bytes(bytes, Precision::decimals);
  return {quantity.number, quantity.unit};
}

TextCell compute_cell(const DeviceSpec& device) {
  if (device.is_cpu) return {"CPU"};
  return {fmt::format("{}.{}", device.compute_major, device.compute_minor)};
}

void write_device(JsonWriter& json, const DeviceSpec& device) {
  json.begin_object();
  json.member("name", device.name);
  json.member("description", device.description);
  json.member("is_cpu", device.is_cpu);
  json.member("compute_capability",
              fmt::format("{}.{}", device.compute_major, device.compute_minor));
  json.member("multiprocessors", std::int64_t{device.multiprocessors});
  json.key("memory_bytes");
  device.memory_bytes > 0 ? json.value(device.memory_bytes) : json.null();
  json.member("context_bytes", device.context_bytes);
  json.member("memory_bytes_per_second", device.memory_bytes_per_second);
  json.key("flops_per_second");
  json.begin_object();
  for (const auto& [dtype, rate] : device.flops_per_second) json.member(dtype, rate);
  json.end_object();
  json.member("source", device.source);
  json.end_object();
}

}  // namespace

void write_devices(fmt::memory_buffer& out, const std::vector<DeviceSpec>& devices,
                   const Layout& layout) {
  TextTable table;
  table.columns = {{"Device"},
                   {"Description", Align::left, 16},
                   {"Compute", Align::number},
                   {"SMs", Align::number},
                   {"Memory", Align::number},
                   {"Bandwidth", Align::number},
                   {"bfloat16", Align::number},
                   {"float32", Align::number}};
  for (const DeviceSpec& device : devices)
    table.rows.push_back({{{device.name, "", Emphasis::strong},
                           {device.description},
                           compute_cell(device),
                           {std::to_string(device.multiprocessors)},
                           memory_cell(device.memory_bytes),
                           rate_cell(device.memory_bytes_per_second, "B"),
                           rate_cell(peak(device, "bfloat16"), "FLOP"),
                           rate_cell(peak(device, "float32"), "FLOP")}});
  write(out, table, layout);
}

void write_devices_json(fmt::memory_buffer& out, const std::vector<DeviceSpec>& devices) {
  JsonWriter json(out);
  json.begin_object();
  json.line(2);
  json.member("schema", "symprof.devices/1");
  json.line(2);
  json.key("devices");
  json.begin_array();
  for (const DeviceSpec& device : devices) {
    json.line(4);
    write_device(json, device);
  }
  json.closing_line(2);
  json.end_array();
  json.end_document();
}

}  // namespace symprof::report
