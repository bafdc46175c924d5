#include "profile/time/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/error.h"
#include "profile/time/formula.h"
#include "profile/time/residuals.h"

namespace symprof::profile {
namespace {

constexpr std::int64_t fp32_bytes = 4;
constexpr std::int64_t smallest_stream = 1024;
constexpr std::size_t usual_streams = 64;

/// Three in an octave: the steps between launch, caches and memory are narrower than one.
std::vector<Kernel> stream_kernels(TimeClass time_class, std::int64_t largest_bytes) {
  std::vector<Kernel> kernels;
  kernels.reserve(usual_streams);
  for (int i = 0;; ++i) {
    const auto bytes = static_cast<std::int64_t>(smallest_stream * std::exp2(i / 3.0));
    if (bytes > largest_bytes) return kernels;
    kernels.push_back({time_class, StreamWork{bytes / 4 * 4}});
  }
}

/// Rows are read and written once.
std::vector<Kernel> row_kernels(TimeClass time_class, std::int64_t largest_bytes) {
  std::vector<Kernel> kernels;
  for (std::int64_t rows = 1; rows <= (1 << 20); rows *= 4)
    for (const std::int64_t length : {32, 128, 512, 768, 1024, 3072, 8192, 32768})
      if (const std::int64_t bytes = 2 * fp32_bytes * rows * length; bytes <= largest_bytes)
        kernels.push_back({time_class, RowWork{rows, length, bytes}});
  return kernels;
}

std::int64_t number_bytes_of(TimeClass time_class) {
  switch (time_class) {
    case TimeClass::product_8bit:
      return 1;
    case TimeClass::product_16bit:
      return 2;
    case TimeClass::product_fp64:
      return 8;
    default:
      return fp32_bytes;
  }
}

std::vector<Kernel> product_kernels(TimeClass time_class, std::int64_t largest_bytes) {
  const std::int64_t number = number_bytes_of(time_class);
  std::vector<Kernel> kernels;
  const auto add = [&](std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k) {
    if (number * batch * (m * k + n * k + m * n) <= largest_bytes)
      kernels.push_back({time_class, ProductWork{batch, m, n, k, number, number, 1}});
  };
  for (const std::int64_t m : {1, 8, 32, 128, 512, 2048, 8192})
    for (const std::int64_t n : {64, 256, 768, 3072, 8192})
      for (const std::int64_t k : {64, 256, 768, 3072, 8192}) add(1, m, n, k);
  for (const std::int64_t batch : {4, 12, 48, 192})
    for (const std::int64_t m : {32, 128, 512})
      for (const std::int64_t n : {32, 128, 512})
        for (const std::int64_t k : {32, 64, 128}) add(batch, m, n, k);
  return kernels;
}

struct Waiting {
  Kernel kernel;
  std::vector<double> sizes;
  double uncertainty = 0;
};

/// The kernels of one class that wait, and the points that are known.
struct ClassSweep {
  std::vector<Waiting> waiting;
  std::vector<ResidualPoint> known;

  /// Residuals do not matter for how certain they are: only sizes do.
  void learn(const Kernel& kernel) {
    known.push_back({formula_of(kernel.time_class).sizes(kernel.work), 0});
  }

  /// Of those that are equally uncertain, the one that came first.
  std::vector<Waiting>::iterator least_certain() {
    for (Waiting& one : waiting)
      one.uncertainty =
          residual_at(known, one.sizes, formula_of(one.kernel.time_class).residuals).deviation;
    return std::ranges::max_element(waiting, {}, &Waiting::uncertainty);
  }
};

using ClassSweeps = std::map<TimeClass, ClassSweep>;

ClassSweeps begin_sweeps(const std::vector<MeasuredKernel>& measured,
                         const std::vector<Kernel>& candidates) {
  ClassSweeps sweeps;
  std::set<Kernel> known;
  for (const MeasuredKernel& row : measured)
    if (known.insert(row.kernel).second) sweeps[row.kernel.time_class].learn(row.kernel);
  for (const Kernel& kernel : candidates)
    if (known.insert(kernel).second)
      sweeps[kernel.time_class].waiting.push_back(
          {kernel, formula_of(kernel.time_class).sizes(kernel.work)});
  return sweeps;
}

/// How far a class' fit is from what it needs, or how uncertain its least certain kernel is in
/// deviations of the process: the first always counts more.
double need_of(TimeClass time_class, ClassSweep& one) {
  const double fewest = static_cast<double>(fewest_measurements(time_class));
  const double known = static_cast<double>(one.known.size());
  if (known < fewest) return 2 + (fewest - known) / fewest;
  const ResidualKernel& process = formula_of(time_class).residuals;
  return one.least_certain()->uncertainty / std::hypot(process.deviation, process.noise);
}

}  // namespace

std::vector<Kernel> sweep_kernels(TimeClass time_class, std::int64_t largest_bytes) {
  if (time_class == TimeClass::sort || time_class == TimeClass::transfer) return {};
  auto* const formula = formula_of(time_class).time;
  if (formula == stream_time) return stream_kernels(time_class, largest_bytes);
  if (formula == row_time) return row_kernels(time_class, largest_bytes);
  if (formula == product_time) return product_kernels(time_class, largest_bytes);
  return {};
}

void sweep(std::vector<MeasuredKernel>& measured, const std::vector<Kernel>& candidates,
           const KernelTimer& timer, const SweepEnd& end) {
  ClassSweeps sweeps = begin_sweeps(measured, candidates);
  std::map<TimeClass, double> needs;
  for (auto& [time_class, one] : sweeps)
    if (!one.waiting.empty()) needs[time_class] = need_of(time_class, one);
  while (!needs.empty() && !end(measured.size())) {
    const TimeClass next =
        std::ranges::max_element(needs, {}, [](const auto& need) { return need.second; })->first;
    ClassSweep& one = sweeps[next];
    const auto place = one.least_certain();
    const Kernel kernel = place->kernel;
    one.waiting.erase(place);
    if (const std::optional<double> us = timer(kernel)) {
      if (!std::isfinite(*us) || *us <= 0)
        throw Error(fmt::format("a measurement of {}", name(next)),
                    fmt::format("took {} us by the device's clock", *us),
                    "Measure again; what was measured before is kept.");
      measured.push_back({kernel, *us});
      one.learn(kernel);
    }
    if (one.waiting.empty())
      needs.erase(next);
    else
      needs[next] = need_of(next, one);
  }
}

}  // namespace symprof::profile
