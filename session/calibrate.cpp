#include "session/calibrate.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <random>
#include <span>

#include "base/error.h"
#include "profile/time/sweep.h"
#include "profile/time/time_model.h"
#include "session/devices.h"
#include "session/settings.h"
#include "session/torch_library.h"

namespace symprof {
namespace {

using profile::Kernel;
using profile::TimeClass;
using Clock = std::chrono::steady_clock;

/// Half width (natural logarithm, nine of ten) of a CPU's drift in speed from hour to hour, beyond
/// the variation within one calibration of minutes. Two calibrations of one virtual machine, ten
/// hours apart, differ by 0.104 (root mean square over the classes of their kernels' median;
/// truth/measured/cpu_hours.py), each of the two by a square root of two less.
constexpr double cpu_hours_half_width = 0.12;

constexpr TimeClass cpu_classes[] = {TimeClass::product_fp32,   TimeClass::convolution_fp32,
                                     TimeClass::attention_fp32, TimeClass::attention_backward,
                                     TimeClass::depthwise,      TimeClass::depthwise_cudnn,
                                     TimeClass::elementwise,    TimeClass::function,
                                     TimeClass::copy,           TimeClass::batch_norm,
                                     TimeClass::pooling,        TimeClass::layer_norm,
                                     TimeClass::softmax,        TimeClass::reduction,
                                     TimeClass::gather,         TimeClass::sort,
                                     TimeClass::optimizer,      TimeClass::random};
/// No poolings: on a GPU the class counts clocks per element of the result, and no size of the
/// sweep shows its memory traffic.
constexpr TimeClass gpu_classes[] = {TimeClass::product_16bit,
                                     TimeClass::product_fp32,
                                     TimeClass::convolution_16bit,
                                     TimeClass::convolution_tf32,
                                     TimeClass::attention_flash,
                                     TimeClass::attention_newer,
                                     TimeClass::attention_fp32,
                                     TimeClass::depthwise,
                                     TimeClass::elementwise,
                                     TimeClass::copy,
                                     TimeClass::batch_norm,
                                     TimeClass::batch_norm_rows,
                                     TimeClass::layer_norm,
                                     TimeClass::softmax,
                                     TimeClass::reduction,
                                     TimeClass::gather,
                                     TimeClass::sort,
                                     TimeClass::optimizer,
                                     TimeClass::transfer};

/// Kernels of the last part of a sweep, in FLOPs, and the largest. Tenths of a second, and seconds,
/// of a CPU's cores; tens of milliseconds of a GPU.
constexpr double cpu_long = 4e9, cpu_longest = 4e10, gpu_long = 1e12, gpu_longest = 1e13;
constexpr std::int64_t cpu_bytes = 256 << 20, gpu_bytes = std::int64_t{1} << 30;
/// Candidates of a class: more than a sweep of minutes measures, and few enough to compare each
/// time.
constexpr std::size_t most_candidates = 300;
constexpr double short_share = 0.8;
constexpr auto keep_interval = std::chrono::seconds(15);
constexpr auto repeat_interval = std::chrono::seconds(3);

/// Any of them, the same each time.
std::vector<Kernel> some_of(std::vector<Kernel> kernels) {
  constexpr std::uint64_t seed = 41;
  std::mt19937_64 random(seed);
  for (std::size_t i = kernels.size(); i > 1; --i) std::swap(kernels[i - 1], kernels[random() % i]);
  kernels.resize(std::min(kernels.size(), most_candidates));
  return kernels;
}

std::vector<Kernel> candidates_of(bool is_cpu) {
  const profile::SweepLimits limits{.bytes = is_cpu ? cpu_bytes : gpu_bytes,
                                    .flops = is_cpu ? cpu_longest : gpu_longest,
                                    .is_cpu = is_cpu};
  std::vector<Kernel> all;
  for (const TimeClass one :
       is_cpu ? std::span<const TimeClass>(cpu_classes) : std::span<const TimeClass>(gpu_classes))
    std::ranges::copy(some_of(profile::sweep_kernels(one, limits)), std::back_inserter(all));
  return all;
}

/// A product and a sum out of the caches, long enough that nothing but the device's speed counts.
std::vector<Kernel> repeated_kernels(bool is_cpu) {
  const std::int64_t side = is_cpu ? 768 : 4096, bytes = is_cpu ? 100'000'000 : 500'000'000;
  const std::int64_t number_bytes = is_cpu ? 4 : 2;
  return {{.time_class = is_cpu ? TimeClass::product_fp32 : TimeClass::product_16bit,
           .work = profile::ProductWork{.m = side,
                                        .n = side,
                                        .k = side,
                                        .operand_bytes = number_bytes,
                                        .result_bytes = number_bytes}},
          {.time_class = TimeClass::elementwise, .work = profile::StreamWork{bytes}}};
}

/// Runs a sweep, reports its progress, and passes on the measurements so far.
class Measuring {
 public:
  Measuring(const CalibrationQuestion& question, measure::KernelRunner& runner)
      : question_(question), runner_(runner) {}

  void run(measure::Calibration& calibration, const std::vector<Kernel>& kernels, double until) {
    const profile::KernelTimer timer = [&](const Kernel& kernel) { return runner_.us(kernel); };
    profile::sweep(
        calibration.kernels, kernels, timer,
        [&](std::size_t) {
          repeat(calibration.repeated);
          const double minutes = std::chrono::duration<double>(Clock::now() - begin_).count() / 60;
          if (question_.progress)
            question_.progress("calibrate", std::llround(minutes * 60),
                               std::llround(question_.minutes * 60));
          if (question_.keep && Clock::now() - kept_ > keep_interval)
            question_.keep(calibration), kept_ = Clock::now();
          return minutes >= until || (question_.is_stopped && question_.is_stopped());
        },
        question_.device == "cpu");
  }

 private:
  /// Now and then: how fast the device is at this moment.
  void repeat(std::vector<profile::MeasuredKernel>& repeated) {
    if (Clock::now() - repeated_ < repeat_interval) return;
    for (const Kernel& kernel : repeated_kernels(question_.device == "cpu"))
      if (const auto us = runner_.us(kernel)) repeated.push_back({kernel, *us});
    repeated_ = Clock::now();
  }

  const CalibrationQuestion& question_;
  measure::KernelRunner& runner_;
  const Clock::time_point begin_ = Clock::now();
  Clock::time_point kept_ = begin_, repeated_ = begin_;
};

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

std::string source_of(const DeviceSpec& like, const measure::DeviceFacts& facts,
                      std::size_t kernels) {
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

}  // namespace

measure::Calibration measure_kernels(const CalibrationQuestion& question) {
  const bool is_cpu = question.device == "cpu";
  measure::Calibration calibration = question.known;
  const auto runner = TorchLibrary().measuring().time_kernels(question.device);
  std::vector<Kernel> kernels = candidates_of(is_cpu);
  const auto long_ones = profile::take_long_kernels(kernels, is_cpu ? cpu_long : gpu_long);
  Measuring measuring(question, *runner);
  measuring.run(calibration, kernels, question.minutes * short_share);
  measuring.run(calibration, long_ones, question.minutes);
  calibration.facts = runner->facts();
  calibration.facts.date = fmt::format("{:%Y-%m-%d}", std::chrono::system_clock::now());
  return calibration;
}

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
  profile::KernelTimes times = device.kernel_times.empty()
                                   ? profile::KernelTimes(profile::time_classes)
                                   : profile::load_kernel_times(device.kernel_times);
  CalibratedDevice result;
  for (int i = 0; i < profile::time_classes; ++i) {
    const auto time_class = static_cast<TimeClass>(i);
    std::vector<profile::MeasuredKernel> rows;
    std::ranges::copy_if(
        calibration.kernels, std::back_inserter(rows),
        [&](const profile::MeasuredKernel& row) { return row.kernel.time_class == time_class; });
    // Files may have classes that no sweep of today measures.
    const bool is_swept = device.is_cpu || std::ranges::find(gpu_classes, time_class) !=
                                               std::ranges::end(gpu_classes);
    if (rows.empty() || !is_swept) continue;
    if (rows.size() < profile::fewest_measurements(time_class)) {
      result.left_out.push_back(time_class);
      continue;
    }
    auto& fitted = times[static_cast<std::size_t>(i)];
    fitted = profile::fit_class(device, time_class, rows,
                                fmt::format("{} kernels measured on {}", rows.size(), facts.date));
    result.fitted.push_back(summary_of(device, time_class, *fitted, rows));
  }
  device.name = name;
  device.description = description_of(device, facts);
  device.speed_half_width = measure::speed_half_width(calibration.repeated);
  if (device.is_cpu && device.speed_half_width)
    device.speed_half_width = std::hypot(*device.speed_half_width, cpu_hours_half_width);
  device.source = source_of(device, facts, calibration.kernels.size());
  result.json = to_json(device, profile::to_json(times));
  return result;
}

}  // namespace symprof
