#include "plan/checkpoint/pool_program.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace symprof::pool_program_test {
namespace {

constexpr std::int64_t unit_bytes = std::int64_t{2} << 20;
constexpr std::size_t count_of_regions = 3, count_of_calls = 3;

/// Regions of three calls each, whose outputs are large and small blocks. Each row has the regions
/// up to one of them.
struct Step {
  plan::StepCosts costs;
  std::vector<plan::PoolRows> pools;
  std::int64_t plain_bytes = 0;

  explicit Step(std::mt19937& random) {
    for (std::size_t r = 0; r < count_of_regions; ++r) {
      plan::RegionCosts region{.module = "block." + std::to_string(r), .policy_us = 2};
      for (std::size_t c = 0; c < count_of_calls; ++c) {
        region.calls.push_back({.call = {"aten::relu", static_cast<int>(c)},
                                .cost_us = 1 + static_cast<double>(random() % 40)});
        region.cost_us += region.calls.back().cost_us;
      }
      costs.regions.push_back(region);
    }
    for (const bool is_small : {false, true}) add_pool(random, is_small);
  }

  void add_pool(std::mt19937& random, bool is_small) {
    plan::PoolRows pool{.is_small = is_small, .unit_bytes = unit_bytes};
    for (std::size_t r = 0; r < count_of_regions; ++r) {
      std::vector<std::int64_t> bytes;
      for (std::size_t c = 0; c < count_of_calls; ++c)
        bytes.push_back(static_cast<std::int64_t>(random() % 8'000) * 512);
      pool.kept.push_back({bytes});
    }
    for (std::size_t last = 0; last < count_of_regions; ++last) {
      plan::HeldRow row{.bytes = unit_bytes, .freed = {}, .kept = {0, 0, 0}};
      for (std::size_t r = 0; r < count_of_regions; ++r) {
        std::int64_t sum = 0;
        for (const std::int64_t bytes : pool.kept[r][0]) sum += bytes;
        row.freed.push_back(r <= last ? sum : plan::HeldRow::undecided);
        row.bytes += r <= last ? sum : 0;
      }
      plain_bytes += last + 1 == count_of_regions ? row.bytes : 0;
      pool.rows.push_back(row);
    }
    pools.push_back(pool);
  }

  /// Units of both pools.
  std::int64_t units_of(const CheckpointPlan& plan) const {
    std::int64_t units = 0;
    for (const plan::PoolRows& pool : pools) {
      std::int64_t most = 0;
      for (const plan::HeldRow& row : pool.rows) most = std::max(most, held(plan, pool, row));
      units += (most + unit_bytes - 1) / unit_bytes;
    }
    return units;
  }

  std::int64_t held(const CheckpointPlan& plan, const plan::PoolRows& pool,
                    const plan::HeldRow& row) const {
    std::int64_t bytes = row.bytes;
    for (const CheckpointRegion& region : plan.regions) {
      const std::size_t r = index_of(region);
      if (row.freed[r] == plan::HeldRow::undecided) continue;
      bytes -= row.freed[r];
      for (std::size_t c = 0; c < count_of_calls; ++c)
        if (keeps(region, r, c)) bytes += pool.kept[r][0][c];
    }
    return bytes;
  }

  double cost_us(const CheckpointPlan& plan) const {
    double us = 0;
    for (const CheckpointRegion& region : plan.regions) {
      const plan::RegionCosts& of_region = costs.regions[index_of(region)];
      us += of_region.cost_us + (region.kept.empty() ? 0 : of_region.policy_us);
      for (std::size_t c = 0; c < count_of_calls; ++c)
        if (keeps(region, index_of(region), c)) us -= of_region.calls[c].cost_us;
    }
    return us;
  }

  std::size_t index_of(const CheckpointRegion& region) const {
    const auto found =
        std::ranges::find(costs.regions, region.modules.front(), &plan::RegionCosts::module);
    return static_cast<std::size_t>(found - costs.regions.begin());
  }

  bool keeps(const CheckpointRegion& region, std::size_t r, std::size_t call) const {
    return std::ranges::find(region.kept, costs.regions[r].calls[call].call) != region.kept.end();
  }

  /// The cost of the cheapest plan; empty: none fits the budget.
  std::optional<double> least_us(std::int64_t budget_bytes) const {
    std::optional<double> least;
    constexpr unsigned kinds =
        1U + (1U << count_of_calls);  // Not recomputed, or recomputed with some calls kept.
    for (unsigned choice = 0; choice < kinds * kinds * kinds; ++choice) {
      CheckpointPlan plan;
      unsigned rest = choice;
      for (const plan::RegionCosts& region : costs.regions) {
        if (const unsigned kind = rest % kinds; kind > 0) {
          std::vector<int> kept;
          for (int c = 0; c < static_cast<int>(count_of_calls); ++c)
            if ((((kind - 1) >> c) & 1U) != 0) kept.push_back(c);
          plan.regions.push_back(region.keeping(kept));
        }
        rest /= kinds;
      }
      if (units_of(plan) <= budget_bytes / unit_bytes)
        least = std::min(least.value_or(cost_us(plan)), cost_us(plan));
    }
    return least;
  }
};

}  // namespace

TEST_SUITE("pool_program") {
  TEST_CASE("the cheapest plan is found; a search that ends early gives a bound") {
    std::mt19937 random(1);
    double exact_us = 0, early_us = 0;
    for (int i = 0; i < 60; ++i) {
      CAPTURE(i);
      const Step step(random);
      const std::int64_t budget_bytes = step.plain_bytes * (4 + i % 5) / 10;
      const plan::PoolProgram program(step.costs, {}, step.pools, budget_bytes, 100);
      const std::optional<double> exact = step.least_us(budget_bytes);
      const auto found = program.solve(budget_bytes, 50'000'000);
      REQUIRE(found.plan.has_value() == exact.has_value());
      if (!exact) continue;
      CHECK(step.cost_us(*found.plan) == doctest::Approx(*exact).epsilon(1e-5));
      CHECK(*found.least_us == doctest::Approx(*exact).epsilon(1e-4));
      const auto early = program.solve(budget_bytes, 1);
      REQUIRE(early.least_us);
      CHECK(*early.least_us <= *exact * (1 + 1e-5));
      if (early.plan) CHECK(step.units_of(*early.plan) <= budget_bytes / unit_bytes);
      exact_us += *exact;
      early_us += *early.least_us;
    }
    CHECK(exact_us > 1'000);
    CHECK(early_us > 0.5 * exact_us);
  }
}

}  // namespace symprof::pool_program_test
