#include "plan/rent.h"

#include <cmath>

namespace symprof::plan {
namespace {

/// False if some calls have no time: the step takes longer than its sum, so only a late job is
/// certain.
bool is_whole(const StepTime& time) { return time.unknown_calls == 0; }

InTime in_time(const Rent& rent, double deadline_seconds) {
  if (*rent.job_high_seconds <= deadline_seconds) return InTime::yes;
  if (*rent.job_seconds <= deadline_seconds) return InTime::likely;
  return *rent.job_low_seconds <= deadline_seconds ? InTime::unlikely : InTime::no;
}

void add_job(Rent& rent, const StepTime& time, const Job& job) {
  if (!job.samples || !time.samples || *time.samples == 0) return;
  const double steps =
      std::ceil(static_cast<double>(*job.samples) / static_cast<double>(*time.samples));
  rent.job_seconds = steps * time.step_us / 1e6;
  rent.job_low_seconds = steps * time.low_us / 1e6;
  rent.job_high_seconds = steps * time.high_us / 1e6;
  if (!job.deadline_seconds) return;
  const InTime answer = in_time(rent, *job.deadline_seconds);
  if (is_whole(time) || answer == InTime::no) rent.in_time = answer;
}

std::optional<double> price_of(const FitReport& report, const Job& job) {
  if (!job.prices) return std::nullopt;
  const auto found = job.prices->per_hour.find(report.device.name);
  return found == job.prices->per_hour.end() ? std::nullopt : std::optional(found->second);
}

/// The index of the report with the smallest value of `measure`; empty if it is empty for all.
template <class Measure>
std::optional<std::size_t> least(const std::vector<FitReport>& reports, const Measure& measure) {
  std::optional<std::size_t> best;
  double lowest = 0;
  for (std::size_t i = 0; i < reports.size(); ++i) {
    const std::optional<double> value = measure(reports[i]);
    if (!value || (best && *value >= lowest)) continue;
    best = i, lowest = *value;
  }
  return best;
}

}  // namespace

Rent rent_of(const FitReport& report, const Job& job) {
  Rent rent{.price_per_hour = price_of(report, job)};
  if (!report.time || report.time->step_us <= 0) return rent;
  const StepTime& time = *report.time;
  const auto per_second = [&](const std::optional<std::int64_t>& count) -> std::optional<double> {
    if (!count) return std::nullopt;
    return static_cast<double>(*count) / time.step_us * 1e6;
  };
  const auto per_million = [&](const std::optional<double>& rate) -> std::optional<double> {
    if (!rate || *rate <= 0 || !rent.price_per_hour) return std::nullopt;
    return *rent.price_per_hour / 3600 * 1e6 / *rate;
  };
  rent.samples_per_second = per_second(time.samples);
  rent.tokens_per_second = per_second(time.tokens);
  rent.cost_per_million_samples = per_million(rent.samples_per_second);
  rent.cost_per_million_tokens = per_million(rent.tokens_per_second);
  add_job(rent, time, job);
  if (rent.job_seconds && rent.price_per_hour)
    rent.job_cost = *rent.price_per_hour / 3600 * *rent.job_seconds;
  return rent;
}

std::optional<std::size_t> fastest_device(const std::vector<FitReport>& reports) {
  return least(reports, [](const FitReport& report) -> std::optional<double> {
    const Rent rent = rent_of(report, {});
    if (!rent.samples_per_second || !is_whole(*report.time)) return std::nullopt;
    return -*rent.samples_per_second;
  });
}

std::optional<std::size_t> best_device(const std::vector<FitReport>& reports, const Job& job) {
  return least(reports, [&](const FitReport& report) -> std::optional<double> {
    if (!report.time || !is_whole(*report.time)) return std::nullopt;
    const Rent rent = rent_of(report, job);
    if (rent.in_time && *rent.in_time != InTime::yes && *rent.in_time != InTime::likely)
      return std::nullopt;
    if (job.prices) return rent.job_cost ? rent.job_cost : rent.cost_per_million_samples;
    if (!rent.samples_per_second) return std::nullopt;
    return -*rent.samples_per_second;
  });
}

}  // namespace symprof::plan
