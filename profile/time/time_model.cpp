#include "profile/time/time_model.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "base/error.h"
#include "profile/time/formula.h"
#include "profile/time/gpu.h"
#include "profile/time/power.h"
#include "profile/time/residuals.h"

namespace symprof::profile {
namespace {

/// Default launch time in a CUDA graph, if the device's file has none (formula.cpp has that of a
/// host launch): on an H200 (te42kyfo/gpu-benches, gpu-small-kernels).
constexpr double usual_graph_launch_us = 1.3;

/// FLOPs and bytes of a roofline.
struct Amounts {
  double flops = 0, bytes = 0;
};

double product_of(std::initializer_list<std::int64_t> factors) {
  double result = 1;
  for (const std::int64_t factor : factors) result *= static_cast<double>(factor);
  return result;
}

Amounts amounts_of(const ProductWork& p) {
  return {2 * product_of({p.batch, p.m, p.n, p.k}),
          product_of({p.batch, p.operand_bytes, p.m * p.k + p.n * p.k}) +
              product_of({p.batch, p.result_bytes, p.m, p.n})};
}

Amounts amounts_of(const AttentionWork& a) {
  const double pairs = product_of({a.batch, a.heads, a.queries, a.keys}) * (a.causal ? 0.5 : 1);
  const double bytes =
      product_of({a.number_bytes, a.batch, a.head_dim}) *
      (2 * product_of({a.heads, a.queries}) + 2 * product_of({a.kv_heads, a.keys}));
  return {4 * pairs * static_cast<double>(a.head_dim) * (a.backward ? 2.5 : 1),
          a.backward ? 2 * bytes : bytes};
}

Amounts amounts_of(const ConvolutionWork& c) {
  const double weights = product_of({c.out_channels, c.in_channels / c.groups, c.window});
  return {2 * weights * product_of({c.batch, c.out}),
          static_cast<double>(c.number_bytes) *
              (product_of({c.batch, c.in, c.in_channels}) +
               product_of({c.batch, c.out, c.out_channels}) + weights)};
}

Amounts amounts_of(const RecurrentWork& r) {
  const double weights = product_of({r.gates, r.hidden, r.hidden});
  return {2 * weights * product_of({r.steps, r.batch}),
          static_cast<double>(r.number_bytes) * weights * static_cast<double>(r.steps)};
}

Amounts amounts_of(const StreamWork& stream) { return {0, static_cast<double>(stream.bytes)}; }
Amounts amounts_of(const RowWork& rows) { return {0, static_cast<double>(rows.bytes)}; }
Amounts amounts_of(const FunctionWork& work) { return {0, static_cast<double>(work.bytes)}; }

/// The place, if the points have as many dimensions; files of earlier versions may have fewer.
const std::vector<double>& place_among(const std::vector<ResidualPoint>& points,
                                       const std::vector<double>& place, const Formula& formula) {
  if (points.front().sizes.size() != place.size())
    throw Error(std::string("the times of ") + std::string(formula.name),
                "have residuals of an earlier version",
                "Fit the device's measurements again, with symprof calibrate.");
  return place;
}

/// Interpolates from one estimate to the other by `share` (in logarithms).
TimeEstimate between(const TimeEstimate& from, const TimeEstimate& to, double share) {
  const auto part = [&](double a, double b) { return std::pow(a, 1 - share) * std::pow(b, share); };
  const TimeEstimate& nearer = share < 0.5 ? from : to;
  return {part(from.us, to.us), part(from.low_us, to.low_us), part(from.high_us, to.high_us),
          nearer.limit, nearer.basis};
}

const std::optional<ClassTimes>* find(const KernelTimes& times, TimeClass time_class) {
  const auto index = static_cast<std::size_t>(time_class);
  return index < times.size() && times[index] ? &times[index] : nullptr;
}

}  // namespace

struct TimeModel::Device {
  DeviceSpec spec;
  Gpu gpu;
  KernelTimes own, data_sheet;
  double launch_us = 0;
  Floor floor = Floor::of_device;

  bool has(TimeClass time_class) const {
    return find(own, time_class) != nullptr || find(data_sheet, time_class) != nullptr;
  }

  struct Found {
    const ClassTimes* times = nullptr;
    bool is_borrowed = false;  ///< From a similar class.
    bool is_own = false;       ///< Of the device's file.
  };

  /// The coefficients used for a class.
  Found times_of(TimeClass time_class) const {
    for (TimeClass one = time_class;;) {
      for (const KernelTimes* times : {&own, &data_sheet})
        if (const auto* found = find(*times, one))
          return {&**found, one != time_class, times == &own};
      const TimeClass next = formula_of(one).like;
      const bool same_formula = formula_of(next).time == formula_of(time_class).time;
      if (next == one || !same_formula) return {};
      one = next;
    }
  }

  /// The formula at the clock that the board's power sustains with what the kernel computes. Own
  /// times have the board's own limits in them, and only those of its owner slow them.
  KernelTime formula_at_clock(const Kernel& kernel, Coefficients coefficients, bool is_own) const {
    const TimeClass one = kernel.time_class;
    const Formula& formula = formula_of(one);
    const KernelTime at_boost = formula.time(kernel.work, gpu, coefficients, one);
    const auto clock = is_own ? limited_clock : sustained_clock;
    const double rate = gpu.rate(one);
    if (clock(spec, one, rate) >= 1 || at_boost.us <= 0) return at_boost;
    const double flops = std::visit([](const auto& w) { return amounts_of(w); }, kernel.work).flops;
    const double share = clock(spec, one, std::min(flops / at_boost.us, rate));
    return share >= 1 ? at_boost
                      : formula.time(kernel.work, at_clock(gpu, share), coefficients, one);
  }

  /// What own times of a class differ by from one board and campaign to another.
  double campaigns_of(TimeClass time_class) const {
    if (const auto* found = find(own, time_class); found != nullptr && (*found)->campaigns > 0)
      return (*found)->campaigns;
    if (spec.speed_half_width) return 0;  // Its times were measured on this very board.
    for (TimeClass one = time_class;; one = formula_of(one).like) {
      const auto* found = find(data_sheet, one);
      if (found != nullptr && (*found)->campaigns > 0) return (*found)->campaigns;
      if (formula_of(one).like == one) return 0;
    }
  }
};

TimeModel::TimeModel(const DeviceSpec& device, KernelTimes own, KernelTimes data_sheet,
                     Floor floor) {
  const Gpu gpu = gpu_of(device);
  const double launch_us = floor == Floor::of_graph && !device.is_cpu
                               ? device.graph_launch_us.value_or(usual_graph_launch_us)
                               : gpu.launch_us;
  device_ = std::make_shared<const Device>(
      Device{device, gpu, std::move(own), std::move(data_sheet), launch_us, floor});
}

double TimeModel::formula_us(const Kernel& kernel, const std::vector<double>& coefficients,
                             TimeBasis basis) const {
  return device_->formula_at_clock(kernel, coefficients, basis == TimeBasis::calibrated).us;
}

std::vector<double> TimeModel::residual_place(const Kernel& kernel,
                                              const std::vector<double>& coefficients) const {
  return profile::residual_place(formula_of(kernel.time_class), kernel.work, device_->gpu,
                                 coefficients);
}

double TimeModel::peak_us(const Kernel& kernel) const {
  const Amounts amounts =
      std::visit([](const auto& work) { return amounts_of(work); }, kernel.work);
  const double rate = device_->gpu.rate(kernel.time_class);
  return rate > 0 ? amounts.flops / rate : 0.0;
}

double TimeModel::roofline_us(const Kernel& kernel) const {
  const Amounts amounts =
      std::visit([](const auto& work) { return amounts_of(work); }, kernel.work);
  return std::max(peak_us(kernel), amounts.bytes / device_->gpu.memory);
}

/// The parts of an estimate.
struct TimeModel::Parts {
  const ClassTimes* times = nullptr;
  bool is_borrowed = false, is_own = false;
  KernelTime formula;
  double residual = 0;  ///< Natural logarithm.
  Uncertainty uncertainty;
};

std::optional<TimeModel::Parts> TimeModel::parts_of(const Kernel& kernel, bool in_cache) const {
  const Formula& formula = formula_of(kernel.time_class);
  auto [times, is_borrowed, is_own] = device_->times_of(kernel.time_class);
  if (times != nullptr && times->in_cache && in_cache) times = times->in_cache.get();
  const bool has_arithmetic = std::holds_alternative<ProductWork>(kernel.work) ||
                              std::holds_alternative<AttentionWork>(kernel.work) ||
                              std::holds_alternative<ConvolutionWork>(kernel.work) ||
                              std::holds_alternative<RecurrentWork>(kernel.work);
  if (times == nullptr || (has_arithmetic && device_->gpu.rate(kernel.time_class) <= 0))
    return std::nullopt;
  const bool is_calibrated = times->is_calibrated && !is_borrowed;
  if (device_->gpu.is_cpu && !is_calibrated)
    return std::nullopt;  // All other coefficients are those of GPUs.
  std::vector<double> coefficients = times->coefficients;
  if (device_->floor != Floor::measured && times->floor_is_host)
    coefficients[0] = device_->launch_us;
  const bool has_own_clock = is_own && !times->is_at_boost;
  Parts parts{times, is_borrowed, is_own,
              device_->formula_at_clock(kernel, coefficients, has_own_clock)};
  if (!std::isfinite(parts.formula.us)) return std::nullopt;
  parts.uncertainty.launch = std::min(coefficients[0] / parts.formula.us, 1.0);
  if (times->points.empty()) return parts;  // The interval is the half width.
  ResidualKernel process = residuals_on(formula, device_->gpu.is_cpu);
  process.largest = std::max(process.largest, times->largest_residual);
  parts.uncertainty.prior = std::hypot(process.deviation, process.noise);
  ResidualAt residual{.deviation = root_mean_square(times->points, process)};
  if (!is_borrowed)
    residual = residual_at(
        times->points, place_among(times->points, residual_place(kernel, coefficients), formula),
        process);
  parts.residual = residual.mean;
  parts.uncertainty.deviation = residual.deviation, parts.uncertainty.scatter = residual.scatter;
  return parts;
}

std::optional<TimeEstimate> TimeModel::compute(const Kernel& kernel, bool in_cache) const {
  // If only layer norms were measured, an RMS norm is treated as one, with their residuals and
  // factors.
  if (kernel.time_class == TimeClass::rms_norm && !device_->has(kernel.time_class))
    return compute({TimeClass::layer_norm, kernel.work, kernel.launches}, in_cache);
  const std::optional<Parts> parts = parts_of(kernel, in_cache);
  if (!parts) return std::nullopt;
  const ClassTimes& times = *parts->times;
  // An interval of the data sheet is what other devices, so other campaigns, are off.
  const double half = std::hypot(half_width(times.interval, times.spread, parts->uncertainty),
                                 parts->is_own ? device_->campaigns_of(kernel.time_class) : 0.0);
  const double more = (kernel.launches - 1) * device_->launch_us;
  const double scale = parts->is_borrowed ? 1 : factor_of(times.factors, kind_of(kernel));
  const double us = parts->formula.us * scale * std::exp(parts->residual) + more;
  return TimeEstimate{
      us, us * std::exp(-half), us * std::exp(half), parts->formula.limit,
      times.is_calibrated && !parts->is_borrowed ? TimeBasis::calibrated : TimeBasis::data_sheet};
}

std::optional<Uncertainty> TimeModel::uncertainty(const Kernel& kernel) const {
  const std::optional<Parts> parts = parts_of(kernel, false);
  return parts ? std::optional(parts->uncertainty) : std::nullopt;
}

void TimeModel::find_in_cache(double share) { share_in_cache_ = std::clamp(share, 0.0, 1.0); }

std::optional<TimeEstimate> TimeModel::estimate(const Kernel& kernel) {
  auto found = known_.find(kernel);
  if (found == known_.end())
    found = known_.emplace(kernel, Known{.usual = compute(kernel, false)}).first;
  Known& known = found->second;
  if (share_in_cache_ == 0 || !known.usual) return known.usual;
  if (!known.knows_in_cache) known.in_cache = compute(kernel, true), known.knows_in_cache = true;
  return between(*known.usual, known.in_cache.value_or(*known.usual), share_in_cache_);
}

TimeModel time_model_of(const DeviceSpec& device, const std::string& data_sheet, Floor floor) {
  return {device,
          device.kernel_times.empty() ? KernelTimes() : load_kernel_times(device.kernel_times),
          load_kernel_times(data_sheet), floor};
}

}  // namespace symprof::profile
