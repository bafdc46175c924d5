#include "plan/rent.h"

#include <doctest/doctest.h>

#include <cmath>

#include "base/error.h"

namespace symprof::test {
namespace {

using namespace symprof::plan;

/// A device whose step of `samples` takes `seconds`, with an interval from 0.8 to 1.25 times that.
FitReport working(const std::string& name, std::int64_t samples, double seconds) {
  FitReport report;
  report.device.name = name;
  const double us = seconds * 1e6;
  report.time =
      StepTime{.step_us = us, .low_us = 0.8 * us, .high_us = 1.25 * us, .samples = samples};
  return report;
}

Job job_of(std::int64_t samples, double deadline_seconds) {
  Job job;
  job.samples = samples, job.deadline_seconds = deadline_seconds;
  job.prices = Prices{"EUR", {{"slow", 1}, {"fast", 5}}};
  return job;
}

}  // namespace

TEST_SUITE("rent") {
  TEST_CASE("rates, prices and the job follow from the step") {
    const FitReport report = working("fast", 64, 0.5);
    const Rent rent = rent_of(report, job_of(1000, 3600));
    CHECK(*rent.samples_per_second == doctest::Approx(64 / 0.5));
    CHECK(*rent.cost_per_million_samples == doctest::Approx(5.0 / 3600 * 0.5 / 64 * 1e6));
    const double steps = std::ceil(1000 / 64.0);
    CHECK(*rent.job_seconds == doctest::Approx(steps * 0.5));
    CHECK(*rent.job_high_seconds == doctest::Approx(steps * 0.5 * 1.25));
    CHECK(*rent.job_cost == doctest::Approx(5.0 / 3600 * steps * 0.5));
    CHECK_FALSE(rent.tokens_per_second);
    CHECK(*rent_of(report, {}).samples_per_second == *rent.samples_per_second);
    CHECK_FALSE(rent_of(report, {}).price_per_hour);
  }

  TEST_CASE("the deadline is judged by the interval") {
    const FitReport report = working("slow", 1, 1);  // 100 samples: 80 to 125 s.
    const auto in_time = [&](double deadline) {
      return *rent_of(report, job_of(100, deadline)).in_time;
    };
    CHECK(in_time(125) == InTime::yes);
    CHECK(in_time(124) == InTime::likely);
    CHECK(in_time(100) == InTime::likely);
    CHECK(in_time(99) == InTime::unlikely);
    CHECK(in_time(79) == InTime::no);
  }

  TEST_CASE("the cheapest device in time is chosen, without prices the fastest") {
    const std::vector<FitReport> reports = {working("slow", 1, 1), working("fast", 1, 0.25),
                                            working("unpriced", 1, 0.1), FitReport()};
    CHECK(best_device(reports, job_of(100, 200)) == 0);  // 1 / 3600 * 100 against 5 / 3600 * 25
    CHECK(best_device(reports, job_of(100, 50)) == 1);   // The slow device takes 100 s.
    CHECK_FALSE(best_device(
        reports, job_of(100, 15)));  // Only the device without a price meets the deadline.
    Job unpriced = job_of(100, 15);
    unpriced.prices.reset();
    CHECK(best_device(reports, unpriced) == 2);
    CHECK(fastest_device(reports) == 2);
    CHECK_FALSE(fastest_device({FitReport()}));
  }

  TEST_CASE("a step with untimed calls may be late, but is not chosen") {
    std::vector<FitReport> reports = {working("slow", 1, 1), working("fast", 1, 0.25)};
    reports[0].time->unknown_calls = 3;
    CHECK(best_device(reports, job_of(100, 200)) == 1);
    CHECK_FALSE(rent_of(reports[0], job_of(100, 200)).in_time);
    CHECK(rent_of(reports[0], job_of(100, 79)).in_time == InTime::no);
    CHECK(*rent_of(reports[0], job_of(100, 79)).job_seconds == 100);
    reports[1].time->unknown_calls = 1;
    CHECK_FALSE(best_device(reports, job_of(100, 200)));
    CHECK_FALSE(fastest_device(reports));
  }

  TEST_CASE("an error in a price file names the wrong key") {
    const Prices prices =
        parse_prices(R"({"currency": "EUR", "per_hour": {"h100": 2.5}, "source": "a bill"})", "p");
    CHECK(prices.per_hour.at("h100") == 2.5);
    for (const auto& [json, key] :
         {std::pair{"[]", "object"},
          {"{", "well-formed"},
          {R"({"per_hour": {}})", "currency"},
          {R"({"currency": "EUR"})", "per_hour"},
          {R"({"prices": 1})", "prices"},
          {R"({"currency": "EUR", "per_hour": {"h100": "2"}})", "per_hour.h100"},
          {R"({"currency": "EUR", "per_hour": {"h100": -1}})", "per_hour.h100"}}) {
      CAPTURE(json);
      try {
        parse_prices(json, "p");
        FAIL("is refused");
      } catch (const Error& error) {
        CHECK(error.summary().find(key) != std::string::npos);
      }
    }
  }
}

}  // namespace symprof::test
