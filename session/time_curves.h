// How long a step takes as curves of its sizes: the time steps, bends and jumps where kernels fill
// one more wave, or where the device no longer waits for the host, so it is no polynomial.
//
// Public header.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "plan/formulas/curve.h"
#include "profile/profile.h"
#include "session/sized_model.h"

namespace symprof {

/// A step at one size.
struct TimedSize {
  double step_us = 0, low_us = 0, high_us = 0, host_us = 0, busy_us = 0;
  /// The main limit of the step's time; the host where the step is host-bound.
  profile::Limit limit = profile::Limit::nothing;
  std::map<std::string, double> us_by_op;  ///< The device's, of all nodes of an operator.
};

/// The operator that changes most at the end of a piece of a curve.
struct CurveBreak {
  std::string op;
  double us = 0;  ///< By which it is longer, or shorter, than the piece would have gone on.
};

/// Why a curve ends at its last size.
enum class CurveEnd : std::uint8_t {
  enough,   ///< The requested range ends, or the model's.
  memory,   ///< The step does not fit into the device any more.
  refused,  ///< The model does not run with it.
};

/// The curve of one dimension, the others at their start sizes.
struct TimeCurve {
  std::size_t variable = 0;
  plan::Curve curve;                        ///< Microseconds of the step.
  std::map<std::int64_t, TimedSize> steps;  ///< At every size of `curve.measured`.
  std::vector<CurveBreak> breaks;           ///< Behind each piece but the last.
  CurveEnd end = CurveEnd::enough;
  std::string reason;  ///< The reason of a refusal; may refer to settings (base/setting.h).
};

/// One curve for each variable of a model whose settings request times.
std::vector<TimeCurve> find_time_curves(const SizedModel& model);

}  // namespace symprof
