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
#include "session/settings.h"

namespace symprof {

struct SizedModel;

/// A step at one size.
struct TimedSize {
  double step_us = 0, low_us = 0, high_us = 0, host_us = 0, busy_us = 0;
  /// What the step's time mostly goes into; the host where that takes longer than the device.
  profile::Limit limit = profile::Limit::nothing;
  std::map<std::string, double> us_by_op;  ///< The device's, of all nodes of an operator.
};

/// Which operator changes most where a piece of a curve ends.
struct CurveBreak {
  std::string op;
  double us = 0;  ///< By which it is longer, or shorter, than the piece would have gone on.
};

/// Why there is nothing behind the last size of a curve.
enum class CurveEnd : std::uint8_t {
  enough,   ///< It was not asked for more, or the model's range ends.
  memory,   ///< The step does not fit into the device any more.
  refused,  ///< The model does not run with it.
};

/// One dimension, the others at their starts.
struct TimeCurve {
  std::size_t variable = 0;
  plan::Curve curve;                        ///< Microseconds of the step.
  std::map<std::int64_t, TimedSize> steps;  ///< At every size of `curve.measured`.
  std::vector<CurveBreak> breaks;           ///< Behind each piece but the last.
  CurveEnd end = CurveEnd::enough;
  std::string reason;  ///< Of a refusal; may refer to settings (base/setting.h).
};

/// One for each variable of a model whose settings ask for times.
std::vector<TimeCurve> find_time_curves(const SizedModel& model);

}  // namespace symprof
