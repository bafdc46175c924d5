#include "plan/parallel/placement_search.h"

#include <doctest/doctest.h>

#include <limits>
#include <random>

using namespace symprof;
using namespace symprof::plan;

namespace symprof::test::placement_search_test {
namespace {

constexpr double none_possible = std::numeric_limits<double>::infinity();

/// The cost of one choice of options by definition: each value is redistributed once for all nodes
/// that read it in one placement.
double cost_of(const PlacementProblem& problem, const std::vector<std::size_t>& choice) {
  std::vector<Placement> placed(problem.values, whole);
  std::vector<std::vector<Placement>> made(problem.values);
  for (const std::size_t value : problem.given) placed[value] = problem.around;
  double us = 0;
  const auto need = [&](std::size_t value, Placement target) {
    if (placed[value] == target) return;
    for (const Placement known : made[value])
      if (known == target) return;
    const bool is_joined = problem.joins || placed[value] != whole || target != whole_for_columns;
    if (is_joined) made[value].push_back(target);
    us += problem.redistribution_us(value, placed[value], target);
  };
  for (std::size_t i = 0; i < problem.nodes.size(); ++i) {
    const PlacementNode& node = problem.nodes[i];
    const PlacementOption& option = node.options[choice[i]];
    for (std::size_t k = 0; k < node.inputs.size(); ++k) need(node.inputs[k], option.inputs[k]);
    for (const std::size_t value : node.outputs) placed[value] = option.output;
    us += option.us;
  }
  for (const std::size_t value : problem.taken) need(value, problem.around);
  return us;
}

double least_of_all(const PlacementProblem& problem) {
  std::vector<std::size_t> choice(problem.nodes.size(), 0);
  double least = none_possible;
  while (true) {
    least = std::min(least, cost_of(problem, choice));
    std::size_t place = 0;
    while (place < choice.size() && ++choice[place] == problem.nodes[place].options.size())
      choice[place++] = 0;
    if (place == choice.size()) return least;
  }
}

/// Node i reads one or two values of those before it and makes value i + 1.
PlacementProblem random_problem(std::mt19937& random) {
  const auto below = [&](std::size_t count) { return random() % count; };
  const Placement inputs[] = {whole, whole_for_columns, 1, 2};
  const Placement outputs[] = {whole, partial, 1, 2};
  PlacementProblem problem{.values = 7, .given = {0}, .taken = {6}};
  problem.joins = below(2) == 0;
  for (std::size_t i = 0; i < 6; ++i) {
    PlacementNode node{.inputs = {i}, .outputs = {i + 1}};
    if (i > 0 && below(2) == 0) node.inputs.push_back(below(i));
    for (std::size_t k = 0; k < 3; ++k) {
      PlacementOption option{.output = outputs[below(4)], .us = static_cast<double>(below(20))};
      for (std::size_t j = 0; j < node.inputs.size(); ++j)
        option.inputs.push_back(inputs[below(4)]);
      node.options.push_back(option);
    }
    problem.nodes.push_back(node);
  }
  problem.redistribution_us = [](std::size_t value, Placement from, Placement to) {
    if (from == 1 && to == 2) return none_possible;
    return static_cast<double>(3 + (value * 7 + static_cast<std::size_t>(from + 3) * 5 +
                                    static_cast<std::size_t>(to + 3) * 11) %
                                       13);
  };
  return problem;
}

}  // namespace

TEST_SUITE("placement_search") {
  TEST_CASE("the search finds the optimum of all choices") {
    std::mt19937 random(7);
    for (int i = 0; i < 200; ++i) {
      const PlacementProblem problem = random_problem(random);
      const double least = least_of_all(problem);
      const auto found = least_placements(problem);
      REQUIRE(found.has_value() == (least < none_possible));
      if (!found) continue;
      CHECK(found->us == doctest::Approx(least));
      CHECK(cost_of(problem, found->options) == doctest::Approx(least));
    }
  }

  TEST_CASE("column layers of one input share the reduction of its gradient, where allowed") {
    const PlacementOption column{{whole_for_columns}, 2, 1, NodeSplit::column};
    const PlacementOption row{{2, 2}, partial, 1, NodeSplit::row};
    PlacementProblem problem{.values = 4, .given = {0}, .taken = {3}};
    problem.nodes = {{.inputs = {0}, .outputs = {1}, .options = {column}},
                     {.inputs = {0}, .outputs = {2}, .options = {column}},
                     {.inputs = {1, 2}, .outputs = {3}, .options = {row}}};
    problem.redistribution_us = [](std::size_t, Placement, Placement) { return 10.0; };
    CHECK(least_placements(problem)->us == 3 + 10 + 10);
    problem.joins = false;
    CHECK(least_placements(problem)->us == 3 + 20 + 10);
  }

  TEST_CASE("infeasible redistributions give no answer") {
    PlacementProblem problem{.values = 2, .given = {0}, .taken = {1}};
    problem.nodes = {{.inputs = {0}, .outputs = {1}, .options = {{{1}, 1, 0}}}};
    problem.redistribution_us = [](std::size_t, Placement, Placement) { return none_possible; };
    CHECK_FALSE(least_placements(problem).has_value());
  }
}

}  // namespace symprof::test::placement_search_test
