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
#include "session/time_curves.h"

namespace symprof {

struct FormulaQuestion {
  /// What the formulas are in, as Settings::sizes name it.
  std::vector<std::string> dimensions;
  /// The figures of a profile that formulas are wanted for: as many, in the same order, at every
  /// size. Throws Error where that cannot be.
  std::function<std::vector<std::int64_t>(const Profile&)> figures;
  /// Index of the figure that is Totals::peak_requested_bytes; empty: none is. Where it is no
  /// polynomial, the answer looks for moments whose largest it is.
  std::optional<std::size_t> requested_peak;
};

/// The allocator at one size.
struct SizedPeak {
  CallId call = none;  ///< The call that ran at the peak of allocated bytes.
  Phase phase = Phase::forward;
  std::string node, module;  ///< The call's node, and the path of its module.
  std::int64_t requested_bytes = 0, allocated_bytes = 0, reserved_bytes = 0;
};

struct FormulaAnswer {
  Settings settings;                       ///< As they ran, without the sizes that varied.
  Profile first;                           ///< At the variables' starts.
  plan::Formulas found;                    ///< One formula for each figure.
  std::map<plan::Sizes, SizedPeak> peaks;  ///< At every size that was tried.
  std::vector<plan::PeakMoment> moments;   ///< See FormulaQuestion::requested_peak.
  std::vector<TimeCurve> times;            ///< Of each dimension, where the settings ask for times.
};

/// A model whose dimensions have other sizes each time it is profiled.
struct SizedModel {
  std::vector<plan::Variable> variables;
  /// Throws Error where the model does not run with these sizes of the variables.
  std::function<Profile(const plan::Sizes&)> profile_at;
  /// Those of the runs: the device and the loop, for the allocator.
  Settings settings;
};

/// Profiles the model at many sizes. `question.dimensions` are the variables.
FormulaAnswer find_formulas(const SizedModel& model, const FormulaQuestion& question);

/// Profiles the model at many sizes. Throws Error for a dimension that the model does not have, or
/// that decides what runs.
FormulaAnswer find_formulas(Session& session, const Settings& settings,
                            const FormulaQuestion& question);

}  // namespace symprof
