// Measurements at many sizes: which sizes are worth trying, and what came of them.
//
// Public header.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "plan/formulas/polynomial.h"

namespace symprof::plan {

/// A dimension that formulas are written in.
struct Variable {
  std::string name;
  std::int64_t start = 2;  ///< A size that is known to work; others are its multiples if they can.
  std::int64_t least = 2;  ///< PyTorch treats sizes 0 and 1 apart, so nothing is learned there.
  std::optional<std::int64_t> most;
  std::int64_t round = 1;  ///< Sizes are multiples of it.
};

/// The figures at these sizes, always as many and in the same order. Throws Error where the model
/// cannot have them.
using Measure = std::function<std::vector<std::int64_t>(const Sizes&)>;

/// A size that the model cannot have, and why.
struct RefusedSize {
  Sizes sizes;
  std::string reason;  ///< May refer to settings (base/setting.h).
};

/// Measures once at each point that is asked for.
class SizeSamples {
 public:
  explicit SizeSamples(Measure measure) : measure_(std::move(measure)) {}

  /// Null where the model refuses these sizes.
  const std::vector<std::int64_t>* at(const Sizes& sizes);
  /// Throws the model's Error where it refuses them.
  const std::vector<std::int64_t>& required(const Sizes& sizes);

  const std::vector<RefusedSize>& refused() const { return refused_; }
  /// Calls `visit(sizes, figures)` for all that were measured.
  void for_each(const auto& visit) const {
    for (const auto& [sizes, figures] : known_)
      if (figures) visit(sizes, *figures);
  }
  int measured() const { return static_cast<int>(known_.size() - refused_.size()); }

 private:
  Measure measure_;
  std::map<Sizes, std::optional<std::vector<std::int64_t>>> known_;
  std::vector<RefusedSize> refused_;
};

/// Sizes of one variable with equal distances, multiples of `step`, at which the model was measured
/// while the other variables have their starts.
struct SizeLine {
  std::int64_t step = 1;
  Sizes sizes;
};

/// Six sizes from `start`, a multiple of `round`, on in steps of it; where the model's range has no
/// room for them, in steps of one of its divisors and below it. A size that the model refuses
/// becomes the end of the variable's range where it is above `start`; below, it says that the step
/// is no good. Throws Error when fewer than three sizes are possible.
SizeLine find_line(std::vector<Variable>& variables, std::size_t variable, SizeSamples& samples);

}  // namespace symprof::plan
