// Tracks values unknown to the walk of a script, and if they were needed.
#pragma once

#include "meta/fake/silent_observer.h"

namespace symprof::trace::torchscript {

/// Uses upper bounds if requested, and notes sizes and numbers that depend on data.
class WalkObserver final : public meta::SilentObserver {
 public:
  explicit WalkObserver(bool takes_upper_bounds) : takes_upper_bounds_(takes_upper_bounds) {}

  std::optional<std::int64_t> unbacked_size(std::optional<std::int64_t> most) override {
    if (takes_upper_bounds_) return most;
    needs_values_ = true;
    return std::nullopt;
  }
  std::optional<double> unbacked_number(std::int32_t, const meta::ValueRange&) override {
    needs_values_ = true;
    return std::nullopt;
  }
  bool takes_upper_bounds() override { return takes_upper_bounds_; }

  bool needs_values() const { return needs_values_; }

 private:
  bool takes_upper_bounds_;
  bool needs_values_ = false;
};

}  // namespace symprof::trace::torchscript
