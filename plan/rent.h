// Which device to rent for a job: speed, price, and the deadline.
//
// Public header.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "plan/fit.h"

namespace symprof::plan {

/// Prices of devices, from the user's file: the program has none of its own.
struct Prices {
  std::string currency;                    ///< Printed as given.
  std::map<std::string, double> per_hour;  ///< By device name.
};

/// Reads a file of prices (docs/guide/rent.md). Throws Error that says which key is wrong.
Prices load_prices(const std::string& path);
Prices parse_prices(const std::string& json, const std::string& path);

/// The work to do with the model.
struct Job {
  std::optional<std::int64_t> samples;
  std::optional<double> deadline_seconds;
  std::optional<Prices> prices;

  /// True if the job needs the time of a step.
  bool is_asked() const { return samples || deadline_seconds || prices; }
};

/// If a job meets its deadline, judged by the interval of the step's time.
enum class InTime : std::uint8_t {
  yes,       ///< Even at the slow end of the 90 % interval.
  likely,    ///< With the predicted time.
  unlikely,  ///< Only if steps are faster than predicted.
  no,
};

/// A device at work, with the step of FitReport::time. Empty members are unknown or not requested.
/// If the step has calls without a time, derived values are bounds, and `in_time` is `no` or
/// unknown.
struct Rent {
  std::optional<double> samples_per_second, tokens_per_second;
  std::optional<double> price_per_hour, cost_per_million_samples, cost_per_million_tokens;
  std::optional<double> job_seconds, job_low_seconds, job_high_seconds, job_cost;
  std::optional<InTime> in_time;
};

/// Counts whole steps; the last one may be partly empty.
Rent rent_of(const FitReport& report, const Job& job);

/// The index of the device to take: the cheapest that meets the deadline (at least likely); without
/// prices the fastest. Empty: no device has a time for all its calls, meets the deadline, or has a
/// price where prices are given.
std::optional<std::size_t> best_device(const std::vector<FitReport>& reports, const Job& job);
/// The index of the device with the most samples per second, among those with a time for all calls.
std::optional<std::size_t> fastest_device(const std::vector<FitReport>& reports);

}  // namespace symprof::plan
