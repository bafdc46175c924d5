// Rotor's dynamic program against the recurrences of its public code, and against the optimum over
// every sequence of operations: truth/plans/chain_oracle.py.
#include "plan/checkpoint/rotor.h"
#include "tests/support/source_folder.h"

#include <doctest/doctest.h>

#include <fstream>
#include <nlohmann/json.hpp>

namespace symprof::rotor_test {
namespace {

using nlohmann::json;

plan::RotorChain chain_of(const json& chain) {
  plan::RotorChain read;
  chain.at("ftime").get_to(read.forward);
  chain.at("btime").get_to(read.backward);
  chain.at("x").get_to(read.value);
  chain.at("xbar").get_to(read.saved);
  chain.at("ftmp").get_to(read.forward_temporary);
  chain.at("btmp").get_to(read.backward_temporary);
  return read;
}

}  // namespace

TEST_SUITE("rotor") {
  TEST_CASE("rotor's times match its public recurrences and respect the optimum") {
    std::ifstream file(test::source_folder() + "/truth/plans/chain_oracle.json");
    int answers = 0;
    for (const json& one : json::parse(file)) {
      const plan::RotorChain chain = chain_of(one.at("chain"));
      for (const json& answer : one.at("answers")) {
        CAPTURE(one.at("chain").dump());
        CAPTURE(answer.dump());
        const auto found = plan::rotor(chain, answer.at("budget").get<std::int64_t>());
        REQUIRE(found.has_value() == !answer.at("rotor").is_null());
        ++answers;
        if (!found) continue;
        CHECK(found->time == answer.at("rotor").get<double>());
        CHECK(found->time >= answer.at("optimum").get<double>());
      }
    }
    CHECK(answers == 373);
  }

  TEST_CASE("with enough memory nothing is recomputed") {
    const plan::RotorChain chain{.forward = {3, 4},
                                 .backward = {1, 2},
                                 .value = {1, 1, 1},
                                 .saved = {0, 5, 6},
                                 .forward_temporary = {0, 0},
                                 .backward_temporary = {0, 0}};
    const auto found = plan::rotor(chain, 1000);
    REQUIRE(found);
    CHECK(found->time == 3 + 4 + 1 + 2);
    CHECK(found->segments.empty());
    CHECK_FALSE(plan::rotor(chain, 0));
  }
}

}  // namespace symprof::rotor_test
