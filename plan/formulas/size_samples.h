// Measurements at many sizes: which sizes are worth measuring, and the results.
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
  std::int64_t start = 2;  ///< A size known to work; others are its multiples if possible.
  std::int64_t least = 2;  ///< PyTorch specializes sizes 0 and 1, so they are useless here.
  std::optional<std::int64_t> most;
  std::int64_t round = 1;  ///< Sizes are multiples of it.
};

/// The figures at these sizes, always the same number in the same order. Throws Error where the
/// model does not support the sizes.
using Measure = std::function<std::vector<std::int64_t>(const Sizes&)>;

/// A size that the model does not support, and why.
struct RefusedSize {
  Sizes sizes;
  std::string reason;  ///< May refer to settings (base/setting.h).
};

/// Measures each requested point once.
class SizeSamples {
 public:
  explicit SizeSamples(Measure measure) : measure_(std::move(measure)) {}

  /// Null where the model does not support these sizes.
  const std::vector<std::int64_t>* at(const Sizes& sizes);
  /// Throws the model's Error where it refuses them.
  const std::vector<std::int64_t>& required(const Sizes& sizes);

  const std::vector<RefusedSize>& refused() const { return refused_; }
  /// Calls `visit(sizes, figures)` for all measurements.
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

/// Equally spaced sizes of one variable, multiples of `step`, measured while the other variables
/// are at their starts.
struct SizeLine {
  std::int64_t step = 1;
  Sizes sizes;
};

/// Six sizes: multiples of `round` from `start`, in steps of `start`; where the range is too small,
/// in steps of one of its divisors and from below it. A size that the model refuses becomes the end
/// of the variable's range if it is above `start`; below, it rules out the step. Throws Error when
/// fewer than three sizes are possible.
SizeLine find_line(std::vector<Variable>& variables, std::size_t variable, SizeSamples& samples);

}  // namespace symprof::plan
