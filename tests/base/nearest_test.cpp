#include "base/nearest.h"

#include <doctest/doctest.h>

namespace symprof {

TEST_SUITE("nearest") {
  const std::vector<std::string> modes = {"train", "eval", "inference"};

  TEST_CASE("a typo") {
    CHECK(nearest("trian", modes) == "train");
    CHECK(nearest("evl", modes) == "eval");
    CHECK(nearest("TRAIN", modes) == "train");
    CHECK(nearest("inferense", modes) == "inference");
  }

  TEST_CASE("a prefix of a word") { CHECK(nearest("infer", modes) == "inference"); }

  TEST_CASE("a prefix of several words") {
    CHECK(did_you_mean("a100", {"a100-40g", "a100-80g", "h100"}) ==
          "Did you mean 'a100-40g' or 'a100-80g'?");
    CHECK(did_you_mean("t", {"t4", "t40"}) == "Did you mean 't4'?");
    CHECK(did_you_mean("in", {"in1", "in2", "in3", "in4", "in5"}) == "Did you mean 'in1'?");
  }

  TEST_CASE("no near word") {
    CHECK(!nearest("backward", modes));
    CHECK(!nearest("", modes));
    CHECK(!nearest("x", {}));
    CHECK(did_you_mean("backward", modes).empty());
  }

  TEST_CASE("the nearest of several words") {
    CHECK(did_you_mean("h20", {"h100", "h200"}) == "Did you mean 'h200'?");
  }
}

}  // namespace symprof
