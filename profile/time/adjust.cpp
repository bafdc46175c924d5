#include "profile/time/adjust.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

#include "profile/time/formula.h"
#include "profile/time/gpu.h"
#include "profile/time/time_model.h"
#include "profile/time/width.h"

namespace symprof::profile {
namespace adjust {
namespace {

using Rows = std::vector<MeasuredKernel>;

constexpr std::size_t most_folds = 10;
constexpr std::uint64_t fold_seed = 17;
/// From so many rows on, their own 90th percentile says more than a distribution with a prior.
constexpr std::size_t enough_rows = 20;
/// Rows that the width before counts as.
constexpr double prior_rows = 4;
constexpr double held_share = 0.9;
/// Deviations that half of a normal interval of 90 % is wide.
constexpr double normal_width = 1.645;
/// What kernels of one class are off by beside what all of them are (natural logarithm), and what
/// the launch is.
constexpr double row_deviation = 0.2, launch_deviation = 0.35;
constexpr int rounds = 20;
/// Twice the noise of a measurement (ResidualKernel).
constexpr double far_off = 0.12;
/// Kernels of another program need wider intervals than those of the traced one that were left out:
/// nine of ten of 3,901 lie within 1.27 and 1.45 of them, on an A100 by the data sheet's times and
/// by its own (scripts/time/judge_traces.py).
constexpr double other_programs = 1.4;
/// Half width of what two runs of one program on one board differ by: rows of public traces of two
/// runs each on a V100 and on an H100 differ by 0.9 % and 1.9 % at the 90th percentile.
constexpr double runs_half_width = 0.02;
/// An older point so near to a measurement (octaves) is another board's value of the same.
constexpr double near = 0.5;

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

/// Student's t at 95 % (Abramowitz, Stegun: Handbook of Mathematical Functions, 26.7.5).
double student(double degrees) {
  const double z = normal_width, z3 = z * z * z, z5 = z3 * z * z;
  return z + (z3 + z) / (4 * degrees) + (5 * z5 + 16 * z3 + 3 * z) / (96 * degrees * degrees);
}

const std::optional<ClassTimes>& class_in(const KernelTimes& times, TimeClass time_class) {
  static const std::optional<ClassTimes> nothing;
  const auto index = static_cast<std::size_t>(time_class);
  return index < times.size() ? times[index] : nothing;
}

/// A measurement: the logarithm of its time over the estimate, and the launch's share of that.
struct Seen {
  double log = 0, launch = 0;
};

/// Logarithms of what the launch and the rest of a kernel take over what they took.
struct Move {
  double launch = 0, rest = 0;
};

/// Least squares of log = launch's share · launch + rest's share · rest, with the loss of outliers
/// linear, and both likely to be near 0: `deviation` is what the class was off before.
Move move_of(const std::vector<Seen>& seen, double deviation) {
  const double of_rest = std::pow(row_deviation / deviation, 2);
  const double of_launch = std::pow(row_deviation / launch_deviation, 2);
  Move move;
  for (int round = 0; round < rounds; ++round) {
    double launches = of_launch, both = 0, rests = of_rest, launch = 0, rest = 0;
    for (const Seen& one : seen) {
      const double u = one.launch, v = 1 - u;
      const double error = std::abs(one.log - u * move.launch - v * move.rest);
      const double weight = std::min(1.0, row_deviation / std::max(error, 1e-9));
      launches += weight * u * u, both += weight * u * v, rests += weight * v * v;
      launch += weight * u * one.log, rest += weight * v * one.log;
    }
    const double determinant = launches * rests - both * both;
    move = {(rests * launch - both * rest) / determinant,
            (launches * rest - both * launch) / determinant};
  }
  return move;
}

/// Adjusts one class of a device, on all rows or on some.
class Adjustment {
 public:
  Adjustment(const DeviceSpec& device, TimeClass time_class, const KnownTimes& known,
             ClassTimes before)
      : device_(device), class_(time_class), known_(known), before_(std::move(before)) {}

  ClassTimes on(const Rows& rows) const {
    ClassTimes times = before_;
    times.is_calibrated = true;
    times.interval = 1;
    times.in_cache = nullptr;  // The program's kernels found in L2 what they found there.
    times.campaigns = runs_half_width;
    move(times, rows);
    add_points(times, rows);
    return times;
  }

  TimeModel model_of(const ClassTimes& times) const {
    KernelTimes own(time_classes);
    own[static_cast<std::size_t>(class_)] = times;
    return {device_, std::move(own), known_.data_sheet, Floor::of_device};
  }

  /// The half width (natural logarithm) that the class had for a row in the middle.
  double width_before(const Rows& rows) const {
    TimeModel model(device_, known_.own, known_.data_sheet, Floor::of_device);
    std::vector<double> widths;
    widths.reserve(rows.size());
    for (const MeasuredKernel& row : rows) {
      const TimeEstimate estimate = model.estimate(row.kernel).value();
      widths.push_back(std::log(estimate.high_us / estimate.us));
    }
    return median(std::move(widths));
  }

 private:
  /// The coefficients' launch and a factor for the rest, so that a kernel that is all launch takes
  /// exp(launch) of what it took, a long one exp(rest).
  void move(ClassTimes& times, const Rows& rows) const {
    TimeModel model(device_, known_.own, known_.data_sheet, Floor::of_device);
    const Move found = move_of(seen_by(model, rows), width_before(rows) / normal_width);
    if (times.floor_is_host) times.coefficients[0] = gpu_of(device_).launch_us;
    times.floor_is_host = false;
    times.coefficients[0] *= std::exp(found.launch - found.rest);
    scale(times, found.rest);
  }

  static void scale(ClassTimes& times, double log) {
    times.factors.try_emplace(std::string(other_kinds), 1);
    for (auto& [kind, factor] : times.factors) factor *= std::exp(log);
  }

  static std::vector<Seen> seen_by(TimeModel& model, const Rows& rows) {
    std::vector<Seen> seen;
    seen.reserve(rows.size());
    for (const MeasuredKernel& row : rows)
      seen.push_back({std::log(row.us / model.estimate(row.kernel).value().us),
                      model.uncertainty(row.kernel).value().launch});
    return seen;
  }

  void add_points(ClassTimes& times, const Rows& rows) const {
    ClassTimes without = times;
    without.points.clear();
    TimeModel model = model_of(without);
    std::vector<ResidualPoint> points;
    points.reserve(rows.size());
    for (const MeasuredKernel& row : rows)
      points.push_back({model.residual_place(row.kernel, times.coefficients),
                        std::log(row.us / model.estimate(row.kernel).value().us)});
    std::erase_if(times.points, [&](const ResidualPoint& old) {
      return std::ranges::any_of(
          points, [&](const ResidualPoint& one) { return distance(old.sizes, one.sizes) < near; });
    });
    std::ranges::move(points, std::back_inserter(times.points));
    for (int round = 0; round < rounds; ++round)
      if (!meet(times, rows)) break;
  }

  /// The process keeps a part of what a point is off, as noise. A kernel that is far off is no
  /// noise: its point, one of the last, is moved on. Returns false if all are near.
  bool meet(ClassTimes& times, const Rows& rows) const {
    const std::size_t first = times.points.size() - rows.size();
    for (const ResidualPoint& one : times.points)
      times.largest_residual = std::max(times.largest_residual, std::abs(one.residual));
    TimeModel model = model_of(times);
    bool is_moved = false;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const double error = std::log(rows[i].us / model.estimate(rows[i].kernel).value().us);
      if (std::abs(error) < far_off) continue;
      times.points[first + i].residual += error;
      is_moved = true;
    }
    return is_moved;
  }

  static double distance(const std::vector<double>& a, const std::vector<double>& b) {
    if (a.size() != b.size()) return near;
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
    return std::sqrt(sum);
  }

  const DeviceSpec& device_;
  TimeClass class_;
  KnownTimes known_;
  ClassTimes before_;
};

Rows shuffled(Rows rows) {
  std::mt19937_64 random(fold_seed);
  for (std::size_t i = rows.size(); i > 1; --i) std::swap(rows[i - 1], rows[random() % i]);
  return rows;
}

/// The error of each row by an adjustment on the other folds.
std::vector<JudgedRow> judged_rows(const Adjustment& adjustment, const Rows& rows) {
  const std::size_t folds = std::min(rows.size(), most_folds);
  std::vector<JudgedRow> judged;
  judged.reserve(rows.size());
  for (std::size_t fold = 0; fold < folds && rows.size() > 1; ++fold) {
    Rows seen, unseen;
    for (std::size_t i = 0; i < rows.size(); ++i)
      (i % folds == fold ? unseen : seen).push_back(rows[i]);
    TimeModel model = adjustment.model_of(adjustment.on(seen));
    for (const MeasuredKernel& row : unseen)
      judged.push_back({std::abs(std::log(row.us / model.estimate(row.kernel).value().us)),
                        model.uncertainty(row.kernel).value(), static_cast<int>(fold)});
  }
  return judged;
}

/// Few rows do not tell on what their errors depend: on their distance from others.
constexpr Spread plain = {1, 0, 0};

/// The rows' errors in half widths of an interval of 1.
std::vector<double> errors_of(const std::vector<JudgedRow>& rows) {
  if (rows.size() >= enough_rows) return errors_in_half_widths(rows);
  std::vector<double> errors;
  errors.reserve(rows.size());
  for (const JudgedRow& row : rows)
    errors.push_back(row.error / half_width(1, plain, row.uncertainty));
  return errors;
}

/// The interval in half widths of 1, from errors in that unit and the width before.
double interval_of(std::vector<double> errors, double before) {
  if (errors.size() >= enough_rows) {
    std::ranges::sort(errors);
    const auto place = std::ceil(held_share * static_cast<double>(errors.size()));
    return errors[static_cast<std::size_t>(place) - 1];
  }
  const double deviation = before / normal_width;
  double squares = prior_rows * deviation * deviation;
  for (const double error : errors) squares += error * error;
  const double rows = prior_rows + static_cast<double>(errors.size());
  return student(rows) * std::sqrt(squares / rows);
}

}  // namespace
}  // namespace adjust

std::optional<ClassTimes> adjust_class(const DeviceSpec& device, TimeClass time_class,
                                       const std::vector<MeasuredKernel>& measured,
                                       const KnownTimes& known, const std::string& fitted_on) {
  const std::optional<ClassTimes>& own = adjust::class_in(known.own, time_class);
  const std::optional<ClassTimes>& found =
      own ? own : adjust::class_in(known.data_sheet, time_class);
  if (!found) return std::nullopt;
  ClassTimes before = *found;
  if (!own) before.is_at_boost = true;
  TimeModel model(device, known.own, known.data_sheet, Floor::of_device);
  adjust::Rows rows;
  std::ranges::copy_if(measured, std::back_inserter(rows), [&](const MeasuredKernel& row) {
    return model.estimate(row.kernel).has_value();
  });
  if (rows.empty()) return std::nullopt;
  const adjust::Adjustment adjustment(device, time_class, known, std::move(before));
  ClassTimes times = adjustment.on(rows);
  const std::vector<JudgedRow> judged = adjust::judged_rows(adjustment, adjust::shuffled(rows));
  const bool is_enough = judged.size() >= adjust::enough_rows;
  times.spread = is_enough ? fit_spread(judged) : adjust::plain;
  const ResidualKernel process = residuals_on(formula_of(time_class), device.is_cpu);
  const double prior = std::hypot(process.deviation, process.noise);
  times.interval =
      adjust::other_programs *
      adjust::interval_of(adjust::errors_of(judged), adjustment.width_before(rows) / prior);
  times.fitted_on = fitted_on;
  return times;
}

}  // namespace symprof::profile
