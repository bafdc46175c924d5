#include "profile/step_interval.h"

#include <cmath>

namespace symprof::profile {
namespace {

/// Half width (natural logarithm) of the error common to all kernels of a step on another board.
constexpr double common_half_width = 0.10;
/// The share of an interval's half width that is common to all kernels of a class, and so does not
/// average out over a step. Validated on whole steps of NeuSight, timm and an H200
/// (docs/evaluation/time_accuracy.md, docs/evaluation/accuracy.md).
constexpr double class_share = 0.5;

}  // namespace

void StepInterval::add(const CallTime& call) {
  if (call.us <= 0) return;
  const double weighed = call.us * std::log(call.high_us / call.us);
  if (speed_half_width_ && call.basis == TimeBasis::calibrated)
    of_kernels_[{call.time_class, call.us}] += weighed;
  else
    of_classes_[static_cast<std::size_t>(call.time_class)] += class_share * weighed;
}

double StepInterval::half_width(double busy_us) const {
  const double common = speed_half_width_.value_or(common_half_width);
  double squares = common * common;
  if (busy_us <= 0) return common;
  for (const double weighed : of_classes_) squares += std::pow(weighed / busy_us, 2);
  for (const auto& [kernel, weighed] : of_kernels_) squares += std::pow(weighed / busy_us, 2);
  return std::sqrt(squares);
}

}  // namespace symprof::profile
