// Facts of this machine from the system.
#include "measure/processor.h"

#include <doctest/doctest.h>

#include <chrono>
#include <cmath>
#include <ctime>
#include <thread>
#include <vector>

namespace symprof::measure::processor_test {

TEST_SUITE_BEGIN("processor");

TEST_CASE("free memory is at most the total") {
  REQUIRE(available_memory_bytes());
  CHECK(*available_memory_bytes() > 0);
  CHECK(*available_memory_bytes() < machine_memory_bytes().value());
}

TEST_CASE("the share of other programs excludes this one") {
  const OtherPrograms others;
  CHECK_FALSE(others.share());  // Too short for the system's ticks.
  using Clock = std::chrono::steady_clock;
  const Clock::time_point end = Clock::now() + std::chrono::milliseconds(500);
  const auto work = [&] {
    while (Clock::now() < end) {
    }
  };
  // As many threads as processors: then this program's share and the others' sum to 1.
  const unsigned processors = std::thread::hardware_concurrency();
  const std::clock_t before = std::clock();
  std::vector<std::jthread> threads;
  for (unsigned i = 0; i < processors; ++i) threads.emplace_back(work);
  threads.clear();
  const double own = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
  REQUIRE(others.share());
  constexpr double ticks = 0.15;
  CHECK(std::abs(*others.share() - (1 - own / (0.5 * processors))) < ticks);
}

TEST_SUITE_END();

}  // namespace symprof::measure::processor_test
