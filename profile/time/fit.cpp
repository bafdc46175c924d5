#include "profile/time/fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "base/error.h"
#include "profile/time/formula.h"
#include "profile/time/gpu.h"
#include "profile/time/least_squares.h"
#include "profile/time/time_model.h"
#include "profile/time/width.h"

namespace symprof::profile {
namespace {

constexpr std::size_t folds = 5;
/// The share of measurements that an interval holds.
constexpr double held_share = 0.9;
constexpr std::uint64_t fold_seed = 17;

using Rows = std::vector<MeasuredKernel>;

double formula_us_of(const Kernel& kernel, const Gpu& gpu, Coefficients coefficients) {
  return formula_of(kernel.time_class).time(kernel.work, gpu, coefficients, kernel.time_class).us;
}

std::vector<double> exponentials(std::span<const double> logs) {
  std::vector<double> values;
  values.reserve(logs.size());
  for (const double log : logs) values.push_back(std::exp(log));
  return values;
}

std::vector<double> fit_coefficients(const Formula& formula, const Gpu& gpu, const Rows& rows) {
  // A kernel that is memory-bound on every GPU may be compute-bound on a CPU.
  const double wider = gpu.is_cpu ? std::log(30) : 0;
  std::vector<Unknown> unknowns;
  unknowns.reserve(formula.coefficients.size());
  for (const Coefficient& one : formula.coefficients)
    unknowns.push_back(
        {std::log(one.start), std::log(one.lowest) - wider, std::log(one.highest) + wider});
  const auto errors = [&](std::span<const double> logs) {
    const std::vector<double> coefficients = exponentials(logs);
    std::vector<double> result;
    result.reserve(rows.size());
    for (const MeasuredKernel& row : rows)
      result.push_back(std::log(formula_us_of(row.kernel, gpu, coefficients) / row.us));
    return result;
  };
  return exponentials(least_squares(unknowns, errors));
}

ClassTimes times_without_interval(const Formula& formula, const Gpu& gpu, const Rows& rows) {
  ClassTimes times;
  times.coefficients = fit_coefficients(formula, gpu, rows);
  times.points.reserve(rows.size());
  for (const MeasuredKernel& row : rows)
    times.points.push_back({residual_place(formula, row.kernel.work, gpu, times.coefficients),
                            std::log(row.us / formula_us_of(row.kernel, gpu, times.coefficients))});
  times.interval = 1;
  times.is_calibrated = true;
  return times;
}

/// Rows in a pseudorandom order with a fixed seed.
Rows shuffled(Rows rows) {
  std::mt19937_64 random(fold_seed);
  for (std::size_t i = rows.size(); i > 1; --i) std::swap(rows[i - 1], rows[random() % i]);
  return rows;
}

/// The `held_share` quantile of the values.
double quantile(std::vector<double> values) {
  std::ranges::sort(values);
  const auto place =
      static_cast<std::size_t>(std::ceil(held_share * static_cast<double>(values.size())));
  return values[std::clamp<std::size_t>(place, 1, values.size()) - 1];
}

/// The error of each row under a fit of the other folds (cross-validation).
std::vector<JudgedRow> judged_rows(const DeviceSpec& device, const Formula& formula, const Gpu& gpu,
                                   const Rows& rows) {
  std::vector<JudgedRow> judged;
  judged.reserve(rows.size());
  for (std::size_t fold = 0; fold < folds; ++fold) {
    Rows seen, unseen;
    seen.reserve(rows.size()), unseen.reserve(rows.size() / folds + 1);
    for (std::size_t i = 0; i < rows.size(); ++i)
      (i % folds == fold ? unseen : seen).push_back(rows[i]);
    KernelTimes own(time_classes);
    own[static_cast<std::size_t>(formula.time_class)] = times_without_interval(formula, gpu, seen);
    TimeModel model(device, std::move(own), {}, Floor::measured);
    for (const MeasuredKernel& row : unseen)
      judged.push_back({std::abs(std::log(row.us / model.estimate(row.kernel).value().us)),
                        model.uncertainty(row.kernel).value(), static_cast<int>(fold)});
  }
  return judged;
}

/// Rows without the time of launches after the first, which TimeModel adds.
Rows as_one_kernel(Rows rows, const Gpu& gpu) {
  for (MeasuredKernel& row : rows) {
    row.us -= (row.kernel.launches - 1) * gpu.launch_us;
    row.kernel.launches = 1;
  }
  return rows;
}

void check_rows(const DeviceSpec& device, const Formula& formula, const Gpu& gpu,
                const Rows& rows) {
  const auto fail = [&](const std::string& problem) {
    throw Error(fmt::format("{} on {}", formula.name, device.name), problem,
                "Measure the class again, with more time.");
  };
  if (const std::size_t fewest = fewest_measurements(formula.time_class); rows.size() < fewest)
    fail(fmt::format("has {} measurements; its fit needs {}", rows.size(), fewest));
  std::vector<double> start;
  start.reserve(formula.coefficients.size());
  for (const Coefficient& one : formula.coefficients) start.push_back(one.start);
  for (const MeasuredKernel& row : rows) {
    if (row.kernel.time_class != formula.time_class)
      fail(fmt::format("was given a measurement of {}", name(row.kernel.time_class)));
    if (!std::isfinite(row.us) || row.us <= 0)
      fail(fmt::format("has a measurement of {} us", row.us));
    const double us = formula_us_of(row.kernel, gpu, start);
    if (!std::isfinite(us) || us <= 0)
      fail("has no time by its formula: the device's file lacks a rate that it needs");
  }
}

}  // namespace

std::size_t fewest_measurements(TimeClass time_class) {
  const std::size_t coefficients = formula_of(time_class).coefficients.size();
  return (coefficients + 1) * folds / (folds - 1) + 1;
}

ClassTimes fit_class(const DeviceSpec& device, TimeClass time_class,
                     const std::vector<MeasuredKernel>& measured, const std::string& fitted_on) {
  const Formula& formula = formula_of(time_class);
  const Gpu gpu = gpu_of(device);
  const Rows rows = as_one_kernel(measured, gpu);
  check_rows(device, formula, gpu, rows);
  ClassTimes times = times_without_interval(formula, gpu, rows);
  const std::vector<JudgedRow> judged = judged_rows(device, formula, gpu, shuffled(rows));
  times.spread = fit_spread(judged);
  times.interval = quantile(errors_in_half_widths(judged));
  times.fitted_on = fitted_on;
  return times;
}

}  // namespace symprof::profile
