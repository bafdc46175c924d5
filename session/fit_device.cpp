// The device file of a calibration.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>

#include "base/error.h"
#include "profile/time/adjust.h"
#include "profile/time/sweep.h"
#include "profile/time/time_model.h"
#include "session/calibrate.h"
#include "session/devices.h"
#include "session/paths.h"
#include "session/settings.h"
#include "session/swept_classes.h"

namespace symprof {
namespace {

using profile::TimeClass;

/// Half width (natural logarithm, nine of ten) of a CPU's drift in speed from hour to hour, beyond
/// the variation within one calibration of minutes. Two calibrations of one virtual machine, ten
/// hours apart, differ by 0.104 (root mean square over the classes of their kernels' median;
/// truth/measured/cpu_hours.py), each of the two by a square root of two less.
constexpr double cpu_hours_half_width = 0.12;

/// Rates that the fit needs and no file of a CPU has.
void check_cpu(const measure::DeviceFacts& facts) {
  if (facts.clock_hz && facts.l2_bytes && facts.memory_bytes && facts.memory_bytes_per_second &&
      facts.host_call_us && !facts.flops_per_second.empty())
    return;
  throw Error("the calibration of a CPU",
              "the system does not say its clock, its caches or its memory",
              "Add clock_hz, l2_bytes and memory_bytes to 'device' in the file of measurements.");
}

/// `like` with the CPU's measured properties in place of the GPU's speed.
DeviceSpec cpu_like(DeviceSpec like, const measure::DeviceFacts& facts) {
  check_cpu(facts);
  like.cuda_name.clear();
  like.is_cpu = true;
  like.multiprocessors = static_cast<int>(facts.threads);
  like.memory_bytes = *facts.memory_bytes;
  like.memory_bytes_per_second = facts.memory_bytes_per_second;
  like.flops_per_second = facts.flops_per_second;
  like.clock_hz = facts.clock_hz;
  like.l2_bytes = facts.l2_bytes;
  like.memory_type.clear();
  like.context_bytes = 0;
  like.power_watts = like.launch_us = like.graph_launch_us = like.kernel_gap_us = std::nullopt;
  like.host_call_us = facts.host_call_us;
  like.host_launch_us = like.nvlink_bytes_per_second = like.pcie_bytes_per_second = std::nullopt;
  like.kernel_times.clear();
  return like;
}

/// Part of a measured call that is its launch, known from traces (profile/step_time.cpp).
constexpr double launch_share = 1.0 / 3;

DeviceSpec gpu_like(DeviceSpec like, const measure::DeviceFacts& facts) {
  like.cuda_name = facts.processor;
  if (facts.launch_us) like.launch_us = facts.launch_us;
  if (facts.graph_launch_us) like.graph_launch_us = facts.graph_launch_us;
  if (facts.kernel_gap_us) like.kernel_gap_us = facts.kernel_gap_us;
  if (facts.host_call_us) {
    like.host_launch_us = *facts.host_call_us * launch_share;
    like.host_call_us = *facts.host_call_us - *like.host_launch_us;
  }
  if (facts.context_bytes) like.context_bytes = facts.context_bytes;
  return like;
}

/// Bytes per second of the fastest transfer.
std::optional<double> link_of(const std::vector<profile::MeasuredKernel>& kernels) {
  std::optional<double> fastest;
  for (const auto& [kernel, us] : kernels)
    if (kernel.time_class == TimeClass::transfer)
      fastest = std::max(
          fastest.value_or(0),
          static_cast<double>(std::get<profile::StreamWork>(kernel.work).bytes) / us * 1e6);
  return fastest;
}

std::string description_of(const DeviceSpec& like, const measure::DeviceFacts& facts) {
  if (!like.is_cpu) return like.description + ", calibrated";
  return fmt::format("{}, {} threads", facts.processor.empty() ? "CPU" : facts.processor,
                     facts.threads);
}

std::string source_of(const DeviceSpec& like, const measure::Calibration& calibration) {
  const measure::DeviceFacts& facts = calibration.facts;
  const std::size_t kernels = calibration.kernels.size();
  if (calibration.is_of_program)
    return fmt::format("{} kernels of a program that torch.profiler traced on {}. The rest: {}",
                       kernels, facts.processor, like.source);
  std::string text = fmt::format("{} kernels measured on {} on {}, PyTorch {}", kernels,
                                 facts.processor, facts.date, facts.torch_version);
  if (!facts.driver_version.empty()) text += ", driver " + facts.driver_version;
  if (facts.clock_hz) text += fmt::format(", clock {:.0f} MHz", *facts.clock_hz / 1e6);
  return text + (like.is_cpu ? "." : ". The rest: " + like.source);
}

FittedClass summary_of(const DeviceSpec& device, TimeClass time_class,
                       const profile::ClassTimes& times,
                       const std::vector<profile::MeasuredKernel>& rows) {
  profile::KernelTimes own(profile::time_classes);
  own[static_cast<std::size_t>(time_class)] = times;
  profile::TimeModel model(device, std::move(own), {}, profile::Floor::measured);
  FittedClass summary{.time_class = time_class, .kernels = rows.size(), .shortest_us = INFINITY};
  std::vector<double> widths;
  widths.reserve(rows.size());
  for (const profile::MeasuredKernel& row : rows) {
    summary.shortest_us = std::min(summary.shortest_us, row.us);
    summary.longest_us = std::max(summary.longest_us, row.us);
    const auto estimate = model.estimate(row.kernel);
    widths.push_back(std::log(estimate.value().high_us / estimate->us));
  }
  std::ranges::nth_element(widths, widths.begin() + static_cast<std::ptrdiff_t>(widths.size() / 2));
  summary.half_width = widths[widths.size() / 2];
  return summary;
}

bool is_swept(TimeClass time_class, bool on_cpu) {
  return on_cpu || std::ranges::find(swept_on_gpu, time_class) != std::ranges::end(swept_on_gpu);
}

profile::KernelTimes times_of(const DeviceSpec& device) {
  return device.kernel_times.empty() ? profile::KernelTimes(profile::time_classes)
                                     : profile::load_kernel_times(device.kernel_times);
}

/// Fits of a sweep's kernels, or of those that a program happened to have.
class ClassFits {
 public:
  ClassFits(const DeviceSpec& device, const measure::Calibration& calibration)
      : device_(device), calibration_(calibration), own_(times_of(device)) {
    if (calibration.is_of_program) data_sheet_ = profile::load_kernel_times(data_sheet_path());
  }

  /// Empty if there are too few measurements.
  std::optional<profile::ClassTimes> fit(TimeClass time_class,
                                         const std::vector<profile::MeasuredKernel>& rows) const {
    const std::string& date = calibration_.facts.date;
    if (calibration_.is_of_program)
      return profile::adjust_class(device_, time_class, rows, {own_, data_sheet_},
                                   fmt::format("{} kernels of a traced program", rows.size()));
    if (rows.size() < profile::fewest_measurements(time_class)) return std::nullopt;
    return profile::fit_class(device_, time_class, rows,
                              fmt::format("{} kernels measured on {}", rows.size(), date));
  }

  /// Files may have classes that no sweep of today measures.
  bool takes(TimeClass time_class) const {
    return calibration_.is_of_program || is_swept(time_class, device_.is_cpu);
  }

 private:
  const DeviceSpec& device_;
  const measure::Calibration& calibration_;
  profile::KernelTimes own_, data_sheet_;
};

}  // namespace

DeviceSpec device_like(const measure::DeviceFacts& facts) {
  if (facts.device == "cpu") return find_device(default_device);
  for (DeviceSpec& known : shipped_devices())
    if (!facts.processor.empty() && known.cuda_name == facts.processor) return std::move(known);
  throw Error(facts.device, fmt::format("no device file is that of a '{}'", facts.processor),
              "Name the shipped device that is most like it, or a file with its data sheet.");
}

CalibratedDevice fit_device(const measure::Calibration& calibration, const DeviceSpec& like,
                            const std::string& name) {
  const measure::DeviceFacts& facts = calibration.facts;
  DeviceSpec device = facts.device == "cpu" ? cpu_like(like, facts) : gpu_like(like, facts);
  // The data sheet does not name the link: transfers are fitted as fractions of its bandwidth.
  if (!device.pcie_bytes_per_second) device.pcie_bytes_per_second = link_of(calibration.kernels);
  const ClassFits fits(device, calibration);
  profile::KernelTimes times = times_of(device);
  CalibratedDevice result;
  for (int i = 0; i < profile::time_classes; ++i) {
    const auto time_class = static_cast<TimeClass>(i);
    std::vector<profile::MeasuredKernel> rows;
    std::ranges::copy_if(
        calibration.kernels, std::back_inserter(rows),
        [&](const profile::MeasuredKernel& row) { return row.kernel.time_class == time_class; });
    if (rows.empty() || !fits.takes(time_class)) continue;
    auto fitted = fits.fit(time_class, rows);
    if (!fitted) {
      result.left_out.push_back(time_class);
      continue;
    }
    result.fitted.push_back(summary_of(device, time_class, *fitted, rows));
    times[static_cast<std::size_t>(i)] = std::move(fitted);
  }
  device.name = name;
  device.description = description_of(device, facts);
  device.speed_half_width = measure::speed_half_width(calibration.repeated);
  if (device.is_cpu && device.speed_half_width)
    device.speed_half_width = std::hypot(*device.speed_half_width, cpu_hours_half_width);
  device.source = source_of(device, calibration);
  result.json = to_json(device, profile::to_json(times));
  return result;
}

}  // namespace symprof
