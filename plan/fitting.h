// Runs a model in different ways and simulates the device's allocator each time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "plan/fit.h"
#include "plan/trial.h"

namespace symprof::plan {

/// The dimension whose largest size is that of a key-value cache, in tokens.
inline constexpr std::string_view cache_dimension = "kv-cache";

class Fitting {
 public:
  /// `trial` must outlive this.
  Fitting(Trial& trial, const Budget& budget);

  /// Reports if the loop fits, the largest size of `dimension` unless that is empty, and what would
  /// make the loop fit where it does not. Throws Error where the model does not run as given.
  FitReport run(const std::string& dimension);

 private:
  Fit fit(const Recording& recording, const profile::LoopOptions& loop) const;
  bool fits(const Change& change);
  Change at_size(const std::string& dimension, std::int64_t size) const;
  void find_largest(const std::string& dimension);
  void add_changes();
  bool add_change(const Change& change);
  void add_together(const std::vector<Change>& helpful);
  void add_smaller_batch();

  Trial& trial_;
  FitReport report_;
};

/// Throws `error`; if it is about the size of `dimension`, as an error of the setting "max",
/// because the search chose that size.
[[noreturn]] void throw_of_largest(const Error& error, const std::string& dimension);

}  // namespace symprof::plan
