#include "plan/checkpoint/integer_program.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <random>

namespace symprof::integer_program_test {
namespace {

/// A covering problem with binary variables, small enough to enumerate all choices.
struct Covering {
  std::vector<double> costs;
  std::vector<plan::LinearRow> rows;

  Covering(std::mt19937& random, int variables, int count) {
    std::uniform_real_distribution<double> some(0.1, 3);
    for (int i = 0; i < variables; ++i) costs.push_back(some(random));
    for (int i = 0; i < count; ++i) {
      plan::LinearRow row;
      double sum = 0;
      for (int j = 0; j < variables; ++j) {
        if (random() % 3 == 0) continue;
        const double factor = some(random);
        row.terms.emplace_back(j, -factor);
        sum += factor;
      }
      row.most = -0.4 * sum;
      rows.push_back(std::move(row));
    }
  }

  std::vector<plan::LinearRow> broken(const std::vector<double>& values) const {
    std::vector<plan::LinearRow> found;
    for (const plan::LinearRow& row : rows) {
      double sum = 0;
      for (const auto& [variable, factor] : row.terms)
        sum += factor * values[static_cast<std::size_t>(variable)];
      if (sum > row.most + 1e-6) found.push_back(row);
    }
    return found;
  }

  plan::IntegerProgram program() const {
    return {.costs = costs,
            .lower = std::vector<double>(costs.size(), 0),
            .upper = std::vector<double>(costs.size(), 1),
            .ranks = std::vector<std::optional<int>>(costs.size(), 0),
            .broken_rows = [this](const std::vector<double>& values) { return broken(values); }};
  }

  /// The first `forced` variables are 0; with `is_odd` only choices with an odd number of ones
  /// count.
  double exact(int forced, bool is_odd = false) const {
    double best = std::numeric_limits<double>::infinity();
    for (unsigned choice = 0; choice < 1U << costs.size(); ++choice) {
      if ((choice & ((1U << forced) - 1)) != 0) continue;
      if (is_odd && std::popcount(choice) % 2 == 0) continue;
      std::vector<double> values;
      double cost = 0;
      for (std::size_t i = 0; i < costs.size(); ++i) {
        values.push_back((choice >> i) & 1U);
        cost += values.back() * costs[i];
      }
      if (cost < best && broken(values).empty()) best = cost;
    }
    return best;
  }
};

constexpr std::ptrdiff_t enough_work = 100'000'000;

/// Refuses choices with an even number of ones, which no row excludes.
std::optional<plan::LinearRow> refuse_even(const std::vector<double>& values) {
  plan::LinearRow row{.terms = {}, .most = -1};
  int ones = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool is_one = values[i] > 0.5;
    row.terms.emplace_back(static_cast<int>(i), is_one ? 1 : -1);
    row.most += is_one ? 1 : 0;
    ones += is_one ? 1 : 0;
  }
  return ones % 2 == 0 ? std::optional(row) : std::nullopt;
}

}  // namespace

TEST_SUITE("integer_program") {
  TEST_CASE("the solver finds the optimum, whatever was solved before") {
    std::mt19937 random(7);
    for (int i = 0; i < 40; ++i) {
      CAPTURE(i);
      const Covering covering(random, 12, 1 + i % 6);
      const plan::IntegerSolver solver(covering.program(), enough_work);
      for (int forced = 0; forced < 3; ++forced) {
        std::vector<plan::VariableBounds> bounds;
        for (int j = 0; j < forced; ++j) bounds.push_back({j, 0, 0});
        const plan::IntegerAnswer answer = solver.solve(bounds, enough_work);
        const double exact = covering.exact(forced);
        if (std::isinf(exact)) {
          CHECK(std::isinf(answer.least));
          continue;
        }
        CHECK(answer.least == doctest::Approx(exact).epsilon(1e-5));
        CHECK(answer.cost == doctest::Approx(exact).epsilon(1e-5));
        CHECK(covering.broken(answer.values).empty());
      }
    }
  }

  TEST_CASE("refused solutions leave the optimum of the others") {
    std::mt19937 random(5);
    int dearer = 0;
    for (int i = 0; i < 40; ++i) {
      CAPTURE(i);
      const Covering covering(random, 10, 1 + i % 5);
      const plan::IntegerSolver solver(covering.program(), enough_work);
      const double exact = covering.exact(0, true);
      const plan::IntegerAnswer answer = solver.solve({}, enough_work, refuse_even);
      CHECK(answer.least == doctest::Approx(exact).epsilon(1e-5));
      CHECK(answer.cost == doctest::Approx(exact).epsilon(1e-5));
      REQUIRE_FALSE(answer.values.empty());
      CHECK_FALSE(refuse_even(answer.values));
      dearer += exact > covering.exact(0) * (1 + 1e-6) ? 1 : 0;
      for (const std::ptrdiff_t work : {0, 1'000, 10'000}) {
        const plan::IntegerAnswer early = solver.solve({}, work, refuse_even);
        CHECK(early.least <= exact * (1 + 1e-6));
        if (!early.values.empty()) CHECK_FALSE(refuse_even(early.values));
      }
    }
    CHECK(dearer > 10);
  }

  TEST_CASE("a search that ends early gives a valid bound and a feasible solution") {
    std::mt19937 random(11);
    int early = 0;
    for (int i = 0; i < 40; ++i) {
      CAPTURE(i);
      const Covering covering(random, 14, 6);
      const plan::IntegerSolver solver(covering.program(), enough_work);
      const double exact = covering.exact(0);
      for (const std::ptrdiff_t work : {0, 300, 3'000, 30'000}) {
        const plan::IntegerAnswer answer = solver.solve({}, work);
        CHECK(answer.least <= exact * (1 + 1e-6));
        early += answer.least < exact * (1 - 1e-6) ? 1 : 0;
        if (answer.values.empty()) continue;
        CHECK(answer.cost >= exact * (1 - 1e-6));
        CHECK(covering.broken(answer.values).empty());
      }
    }
    CHECK(early > 20);
  }

  TEST_CASE("contradictory rows are infeasible") {
    plan::IntegerProgram program{.costs = {1, 1},
                                 .lower = {0, 0},
                                 .upper = {1, 1},
                                 .ranks = {0, 0},
                                 .broken_rows = [](const std::vector<double>& values) {
                                   std::vector<plan::LinearRow> rows;
                                   if (values[0] + values[1] < 1.5 - 1e-6)
                                     rows.push_back({{{0, -1}, {1, -1}}, -1.5});
                                   if (values[0] - values[1] < 0.5 - 1e-6)
                                     rows.push_back({{{0, -1}, {1, 1}}, -0.5});
                                   return rows;
                                 }};
    const plan::IntegerAnswer none =
        plan::IntegerSolver(program, enough_work).solve({}, enough_work);
    CHECK(std::isinf(none.least));
    CHECK(none.values.empty());
  }
}

}  // namespace symprof::integer_program_test
