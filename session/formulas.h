// The verb formulas: a model's figures as formulas of its dimensions, found from profiles at many
// sizes and checked at others (docs/guide/formulas.md).
//
// Public header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "plan/formulas/formulas.h"
#include "plan/formulas/peak_moments.h"
#include "session/session.h"
#include "session/sized_model.h"
#include "session/time_curves.h"

namespace symprof {

struct FormulaQuestion {
  /// The formulas' variables, named as in Settings::sizes.
  std::vector<std::string> dimensions;
  /// Returns the figures of a profile that formulas are fitted to: the same figures in the same
  /// order at every size. Throws Error if that is impossible.
  std::function<std::vector<std::int64_t>(const Profile&)> figures;
  /// Index of the figure that is Totals::peak_requested_bytes; empty if there is none. If this
  /// figure is not a polynomial, FormulaAnswer::moments gives it as a maximum of several
  /// polynomials.
  std::optional<std::size_t> requested_peak;
};

/// Peak memory at one choice of sizes, as the simulated allocator counts it.
struct SizedPeak {
  CallId call = none;  ///< The call that ran at the peak of allocated bytes.
  Phase phase = Phase::forward;
  std::string node, module;  ///< The call's node, and the path of its module.
  std::int64_t requested_bytes = 0, allocated_bytes = 0, reserved_bytes = 0;
};

struct FormulaAnswer {
  Settings settings;                       ///< Settings of the runs, without the varied sizes.
  Profile first;                           ///< At the variables' starts.
  plan::Formulas found;                    ///< One formula for each figure.
  std::map<plan::Sizes, SizedPeak> peaks;  ///< At every size that was tried.
  std::vector<plan::PeakMoment> moments;   ///< See FormulaQuestion::requested_peak.
  std::vector<TimeCurve> times;            ///< By dimension, where the settings request times.
};

/// Profiles the model at many sizes. `question.dimensions` are the variables.
FormulaAnswer find_formulas(const SizedModel& model, const FormulaQuestion& question);

/// Profiles the model at many sizes. Throws Error for an unknown dimension, or one that control
/// flow depends on.
FormulaAnswer find_formulas(Session& session, const Settings& settings,
                            const FormulaQuestion& question);

}  // namespace symprof
