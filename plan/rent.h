// Which device to rent for a job: how fast, how dear, and whether in time.
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

/// What devices cost, as the user's file has it: nothing here comes with the program.
struct Prices {
  std::string currency;                    ///< Printed as it stands.
  std::map<std::string, double> per_hour;  ///< By the devices' names.
};

/// Reads a file of prices (docs/guide/rent.md). Throws Error that says which key is wrong.
Prices load_prices(const std::string& path);
Prices parse_prices(const std::string& json, const std::string& path);

/// What is to be done with the model.
struct Job {
  std::optional<std::int64_t> samples;
  std::optional<double> deadline_seconds;
  std::optional<Prices> prices;

  /// Whether anything is asked that needs the time of a step.
  bool is_asked() const { return samples || deadline_seconds || prices; }
};

/// Whether a job is done before its deadline, by the step's interval.
enum class InTime : std::uint8_t {
  yes,       ///< Even where steps take as long as nine of ten measurements allow.
  likely,    ///< With the predicted time.
  unlikely,  ///< Only where steps are shorter than predicted.
  no,
};

/// A device at work, with the step that FitReport::time is of. Empty: not known, or not asked.
/// Of a step with calls that have no time, what follows from it is a bound, and `in_time` is `no`
/// or not known.
struct Rent {
  std::optional<double> samples_per_second, tokens_per_second;
  std::optional<double> price_per_hour, cost_per_million_samples, cost_per_million_tokens;
  std::optional<double> job_seconds, job_low_seconds, job_high_seconds, job_cost;
  std::optional<InTime> in_time;
};

/// Whole steps: the last one may be part empty.
Rent rent_of(const FitReport& report, const Job& job);

/// The device to take, as an index: of those that do the job in time (likely at least), the
/// cheapest; without prices the fastest. Empty: none has a time for all its calls, does it in
/// time, or has a price where there are prices.
std::optional<std::size_t> best_device(const std::vector<FitReport>& reports, const Job& job);
/// The one that makes the most samples a second, of those with a time for all calls.
std::optional<std::size_t> fastest_device(const std::vector<FitReport>& reports);

}  // namespace symprof::plan
