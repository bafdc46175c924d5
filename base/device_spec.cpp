#include "base/device_spec.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/nearest.h"
#include "base/tensor_spec.h"

namespace symprof {
namespace {

using Json = nlohmann::json;

constexpr std::uintmax_t largest_file = 1 << 20;

const std::vector<std::string> known_keys = {"name",
                                             "description",
                                             "cuda_name",
                                             "is_cpu",
                                             "compute_capability",
                                             "multiprocessors",
                                             "memory_bytes",
                                             "context_bytes",
                                             "cudnn_version",
                                             "cuda_version",
                                             "cublas_workspace_bytes",
                                             "cudnn_copies_operands",
                                             "shared_memory_per_block_optin_bytes",
                                             "memory_bytes_per_second",
                                             "flops_per_second",
                                             "clock_hz",
                                             "l2_bytes",
                                             "memory_type",
                                             "power_watts",
                                             "power_limit_watts",
                                             "clock_limit_hz",
                                             "process_nm",
                                             "launch_us",
                                             "graph_launch_us",
                                             "kernel_gap_us",
                                             "host_call_us",
                                             "host_launch_us",
                                             "speed_half_width",
                                             "nvlink_bytes_per_second",
                                             "pcie_bytes_per_second",
                                             "kernel_times",
                                             "kernel_clocks",
                                             "links",
                                             "classes",
                                             "calibration",
                                             "source"};

/// Most devices have those of one file, which is read once.
std::shared_ptr<const KernelClocks> shared_clocks(const std::string& path) {
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<const KernelClocks>> known;
  const std::scoped_lock lock(mutex);
  auto& clocks = known[std::filesystem::weakly_canonical(path).string()];
  if (!clocks) clocks = std::make_shared<const KernelClocks>(load_kernel_clocks(path));
  return clocks;
}

/// One device file, with errors that name the key.
class DeviceReader {
 public:
  DeviceReader(const Json& json, std::string path) : json_(json), path_(std::move(path)) {}

  DeviceSpec read() {
    if (!json_.is_object()) throw Error(path_, "is not a JSON object", next_step);
    for (const auto& item : json_.items()) check_key(item.key());
    DeviceSpec spec;
    spec.name = text("name");
    spec.description = text("description");
    if (json_.contains("cuda_name")) spec.cuda_name = text("cuda_name");
    spec.is_cpu = truth("is_cpu");
    spec.source = text("source");
    std::tie(spec.compute_major, spec.compute_minor) = compute_capability();
    spec.multiprocessors = static_cast<int>(count("multiprocessors"));
    spec.memory_bytes = count("memory_bytes");
    spec.cublas_workspace_bytes = count("cublas_workspace_bytes");
    spec.shared_memory_per_block_optin_bytes = count("shared_memory_per_block_optin_bytes");
    if (json_.contains("context_bytes")) spec.context_bytes = count("context_bytes");
    if (json_.contains("cudnn_version")) spec.cudnn_version = count("cudnn_version");
    if (json_.contains("cuda_version")) spec.cuda_version = count("cuda_version");
    spec.cudnn_copies_operands = truth("cudnn_copies_operands");
    if (json_.contains("flops_per_second")) spec.flops_per_second = rates();
    read_speed(spec);
    return spec;
  }

 private:
  static constexpr auto next_step = "Compare with the files in devices/.";

  [[noreturn]] void fail(const std::string& key, const std::string& problem) const {
    throw Error(path_, fmt::format("'{}' {}", key, problem), next_step);
  }

  void check_key(const std::string& key) const {
    if (std::find(known_keys.begin(), known_keys.end(), key) != known_keys.end()) return;
    const std::string hint = did_you_mean(key, known_keys);
    throw Error(path_, fmt::format("unknown key '{}'", key),
                hint.empty() ? fmt::format("Known: {}.", fmt::join(known_keys, ", ")) : hint);
  }

  bool truth(const std::string& key) const {
    if (!json_.contains(key)) return false;
    if (!json_[key].is_boolean()) fail(key, "is not true or false");
    return json_[key].get<bool>();
  }

  const Json& required(const std::string& key) const {
    const auto found = json_.find(key);
    if (found == json_.end()) fail(key, "is missing");
    return *found;
  }

  /// Reads the figures of the time model.
  void read_speed(DeviceSpec& spec) const {
    const std::pair<const char*, std::optional<double> DeviceSpec::*> numbers[] = {
        {"memory_bytes_per_second", &DeviceSpec::memory_bytes_per_second},
        {"clock_hz", &DeviceSpec::clock_hz},
        {"power_watts", &DeviceSpec::power_watts},
        {"power_limit_watts", &DeviceSpec::power_limit_watts},
        {"clock_limit_hz", &DeviceSpec::clock_limit_hz},
        {"process_nm", &DeviceSpec::process_nm},
        {"launch_us", &DeviceSpec::launch_us},
        {"graph_launch_us", &DeviceSpec::graph_launch_us},
        {"kernel_gap_us", &DeviceSpec::kernel_gap_us},
        {"host_call_us", &DeviceSpec::host_call_us},
        {"host_launch_us", &DeviceSpec::host_launch_us},
        {"speed_half_width", &DeviceSpec::speed_half_width},
        {"nvlink_bytes_per_second", &DeviceSpec::nvlink_bytes_per_second},
        {"pcie_bytes_per_second", &DeviceSpec::pcie_bytes_per_second}};
    for (const auto& [key, member] : numbers)
      if (json_.contains(key)) spec.*member = rate(json_[key], key);
    if (json_.contains("l2_bytes")) spec.l2_bytes = count("l2_bytes");
    if (json_.contains("memory_type")) {
      spec.memory_type = text("memory_type");
      if (spec.memory_type != "HBM" && spec.memory_type != "GDDR")
        fail("memory_type", fmt::format("is '{}'; wanted HBM or GDDR", spec.memory_type));
    }
    if (json_.contains("classes")) {
      if (json_.contains("kernel_times"))
        fail("kernel_times", "stands beside 'classes', which are times of kernels themselves");
      spec.kernel_times = path_;
    }
    if (json_.contains("kernel_times")) spec.kernel_times = path_beside("kernel_times");
    if (json_.contains("kernel_clocks"))
      spec.kernel_clocks = shared_clocks(path_beside("kernel_clocks"));
    if (json_.contains("links")) spec.links = path_beside("links");
  }

  /// Resolves a path relative to the file.
  std::string path_beside(const std::string& key) const {
    return (std::filesystem::path(path_).parent_path() / text(key)).string();
  }

  std::string text(const std::string& key) const {
    const Json& value = required(key);
    if (!value.is_string() || value.get_ref<const std::string&>().empty())
      fail(key, "is not a text; wanted a text in quotes");
    return value.get<std::string>();
  }

  std::int64_t count(const std::string& key) const {
    const Json& value = required(key);
    if (!value.is_number_integer() || value.get<double>() < 0 || value.get<double>() > 0x1p53)
      fail(key, fmt::format("is {}; wanted a whole number from 0 to 2^53", value.dump()));
    return value.get<std::int64_t>();
  }

  double rate(const Json& value, const std::string& key) const {
    if (!value.is_number() || !std::isfinite(value.get<double>()) || value.get<double>() <= 0)
      fail(key, fmt::format("is {}; wanted a number above 0", value.dump()));
    return value.get<double>();
  }

  /// "9.0": the two numbers of a compute capability.
  std::pair<int, int> compute_capability() const {
    const std::string written = text("compute_capability");
    int major = 0, minor = 0, end = 0;
    const int found = std::sscanf(written.c_str(), "%2d.%1d%n", &major, &minor, &end);
    if (found != 2 || static_cast<std::size_t>(end) != written.size() || major < 1 || minor < 0)
      fail("compute_capability", fmt::format("is '{}'; wanted a text such as \"9.0\"", written));
    return {major, minor};
  }

  std::vector<std::pair<std::string, double>> rates() const {
    const Json& table = json_["flops_per_second"];
    if (!table.is_object()) fail("flops_per_second", "is not an object of rates by dtype");
    std::vector<std::pair<std::string, double>> result;
    for (const auto& [dtype, value] : table.items()) {
      const auto parsed = parse_dtype(dtype);
      if (dtype != "tf32" && (!parsed || name(*parsed) != dtype))
        fail("flops_per_second", fmt::format("has '{}', which is no dtype's name", dtype));
      result.emplace_back(dtype, rate(value, "flops_per_second." + dtype));
    }
    return result;
  }

  const Json& json_;
  std::string path_;
};

Json parse_file(const std::string& path) {
  std::error_code code;
  if (!std::filesystem::is_regular_file(path, code))
    throw Error(path, "there is no such device file", "`symprof devices` lists the known ones.");
  if (std::filesystem::file_size(path, code) > largest_file)
    throw Error(path, "is too large for a device file", "Device files have a few dozen lines.");
  std::ifstream file(path);
  if (!file) throw Error(path, "cannot be read", "Check the permissions of the file.");
  try {
    return Json::parse(file);
  } catch (const Json::exception& error) {
    throw Error(path, fmt::format("is not well-formed JSON ({})", error.what()),
                "Compare with the files in devices/.");
  }
}

}  // namespace

DeviceSpec load_device(const std::string& path) {
  const Json json = parse_file(path);
  return DeviceReader(json, path).read();
}

std::vector<DeviceSpec> shipped_devices(const std::string& folder) {
  std::vector<DeviceSpec> devices;
  std::error_code code;
  for (const auto& entry : std::filesystem::directory_iterator(folder, code))
    if (entry.path().extension() == ".json") devices.push_back(load_device(entry.path().string()));
  if (code)
    throw Error(folder, fmt::format("cannot be listed ({})", code.message()),
                "The device files belong to the installation: install symprof again.");
  std::sort(devices.begin(), devices.end(),
            [](const DeviceSpec& a, const DeviceSpec& b) { return a.name < b.name; });
  return devices;
}

DeviceSpec find_device(const std::string& name_or_path, const std::string& folder) {
  if (name_or_path.ends_with(".json")) {
    DeviceSpec device = load_device(name_or_path);
    if (!device.kernel_clocks) device.kernel_clocks = shared_clocks(folder + "/clocks/h200.json");
    return device;
  }
  // A file has its device's name, so that the others need not be read.
  std::error_code code;
  const std::filesystem::path own = std::filesystem::path(folder) / (name_or_path + ".json");
  if (std::filesystem::is_regular_file(own, code)) {
    DeviceSpec device = load_device(own.string());
    if (device.name == name_or_path) return device;
  }
  std::vector<std::string> names;
  for (DeviceSpec& device : shipped_devices(folder)) {
    if (device.name == name_or_path) return std::move(device);
    names.push_back(device.name);
  }
  const std::string hint = did_you_mean(name_or_path, names);
  throw Error(SettingRef{"device"}, fmt::format("unknown device '{}'", name_or_path),
              hint.empty()
                  ? fmt::format("Known: {}; or a file that ends in .json.", fmt::join(names, ", "))
                  : hint);
}

}  // namespace symprof
