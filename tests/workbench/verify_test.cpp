// Comparing values of two models: what counts as a difference. The runner is a stub.
#include "workbench/verify.h"

#include <doctest/doctest.h>

#include <cmath>

#include "base/error.h"
#include "tests/support/workbench_files.h"
#include "workbench/constants.h"

namespace symprof::verify_test {
namespace {

using namespace workbench;

/// Returns `first` for the model's own values, then `later`.
ValueRunner runner_of(std::vector<double> first, std::vector<double> later, int firsts = 2) {
  const auto runs = std::make_shared<int>(0);
  ValueRunner runner;
  runner.run = [=](const Graph&, const ValueRunner::Leaves&) {
    const auto& values = (*runs)++ < firsts ? first : later;
    const auto count = static_cast<std::int64_t>(values.size());
    return std::vector<ValueRunner::Tensors>{{make_constant(DType::float64, {count}, values)}};
  };
  runner.bounds = [](const Graph& graph) {
    return std::vector<std::int64_t>(graph.values.size(), 64);
  };
  return runner;
}

OutputDifference compared(const std::vector<double>& first, const std::vector<double>& later,
                          const std::string& name = "llama") {
  const auto path = test::workbench_file("models/" + name + ".onnx");
  const Model model = read_model(path, Weights::keep);
  const Verifier verifier(*model, path, runner_of(first, later), {});
  return verifier.compare(*model).at(0);
}

}  // namespace

TEST_SUITE("workbench_verify") {
  TEST_CASE("differences are absolute, and relative to the original's values") {
    const OutputDifference one = compared({2, -4}, {2 + 1e-7, -4});
    CHECK(one.absolute == doctest::Approx(1e-7).epsilon(1e-6));
    CHECK(one.relative == doctest::Approx(1e-7 / (2 + 1e-7)).epsilon(1e-6));
    CHECK(one.is_within);
  }

  TEST_CASE("the tolerance scales with values above 1") {
    CHECK(compared({1000}, {1000.005}).is_within);
    CHECK(!compared({1000}, {1000.02}).is_within);
    CHECK(!compared({1e-3}, {1e-3 + 2e-5}).is_within);
  }

  TEST_CASE("it scales with the output's largest number, whose rounding small ones have") {
    CHECK(compared({1000, 0}, {1000, 0.005}).is_within);
    CHECK(!compared({1, 0}, {1, 0.005}).is_within);
  }

  TEST_CASE("a model with half precision has a larger tolerance") {
    CHECK(compared({1}, {1.0001}, "llama_mixed").is_within);
    CHECK(!compared({1}, {1.0001}, "llama").is_within);
  }

  TEST_CASE("NaN and infinity equal only themselves") {
    const double none = std::nan(""), infinite = INFINITY;
    CHECK(compared({none, infinite}, {none, infinite}).is_within);
    CHECK(!compared({none}, {1}).is_within);
    CHECK(!compared({infinite}, {-infinite}).is_within);
    CHECK(std::isinf(compared({infinite}, {1}).absolute));
  }

  TEST_CASE("a difference in shape is reported") {
    const OutputDifference one = compared({1, 2}, {1});
    CHECK(!one.is_within);
    CHECK(one.other == "float64[1] instead of float64[2]");
  }

  TEST_CASE("values that differ from run to run are not compared") {
    const auto path = test::workbench_file("models/llama.onnx");
    const Model model = read_model(path, Weights::keep);
    CHECK_THROWS_AS(Verifier(*model, path, runner_of({1}, {2}, 1), {}), Error);
  }

  TEST_CASE("inputs are drawn within their bounds, and weights come from the file") {
    const auto path = test::workbench_file("models/llama.onnx");
    const Model model = read_model(path, Weights::keep);
    const auto values = [](const Graph&, const ValueRunner::Leaves& leaves) {
      CHECK(leaves.at("input_ids")->spec.sizes == std::vector<std::int64_t>{2, 8});
      CHECK(leaves.contains("norm.weight"));
      for (const std::int64_t id : integers_of(*leaves.at("input_ids")))
        CHECK((id >= 0 && id < 64));
      return std::vector<ValueRunner::Tensors>{};
    };
    ValueRunner runner = runner_of({1}, {1});
    runner.run = values;
    CHECK_NOTHROW(Verifier(*model, path, runner, {}));
  }
}

}  // namespace symprof::verify_test
