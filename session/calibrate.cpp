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
#include "session/swept_classes.h"
#include "session/torch_library.h"

namespace symprof {
namespace {

using profile::Kernel;
using profile::TimeClass;
using Clock = std::chrono::steady_clock;

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
       is_cpu ? std::span<const TimeClass>(swept_on_cpu) : std::span<const TimeClass>(swept_on_gpu))
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

}  // namespace symprof
