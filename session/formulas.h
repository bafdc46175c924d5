// The verb formulas: a model's figures as formulas of its dimensions, found from profiles at many
// sizes and checked at others (docs/formulas.md).
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

namespace symprof {

struct FormulaQuestion {
  /// What the formulas are in, as Settings::sizes name it.
  std::vector<std::string> dimensions;
  /// The figures of a profile that formulas are wanted for: as many, in the same order, at every
  /// size. Throws Error where that cannot be.
  std::function<std::vector<std::int64_t>(const Profile&)> figures;
  /// Which of them is Totals::peak_requested_bytes; the largest of several moments where it is no
  /// polynomial.
  std::optional<std::size_t> requested_peak;
};

/// The allocator at one size.
struct SizedPeak {
  CallId call = none;  ///< The one that ran at the peak of allocated bytes.
  Phase phase = Phase::forward;
  std::string node, module;  ///< Those of the call.
  std::int64_t requested_bytes = 0, allocated_bytes = 0, reserved_bytes = 0;
};

struct FormulaAnswer {
  Settings settings;                       ///< Those that ran, without the sizes that varied.
  Profile first;                           ///< At the variables' starts.
  plan::Formulas found;                    ///< One formula for each figure.
  std::map<plan::Sizes, SizedPeak> peaks;  ///< At every size that was tried.
  std::vector<plan::PeakMoment> moments;   ///< See FormulaQuestion::requested_peak.
};

/// Throws Error: a dimension that the model does not have, or that decides what runs.
FormulaAnswer find_formulas(Session& session, const Settings& settings,
                            const FormulaQuestion& question);

}  // namespace symprof
