// Counts of models as onnx's Python package has them.
#include "report/onnx/stats.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/support/workbench_files.h"

namespace symprof::stats_test {
namespace {

using nlohmann::json;

json counted(const std::string& name) {
  const auto path = test::workbench_file("models/" + name + ".onnx");
  fmt::memory_buffer out;
  report::write_stats_json(
      out, workbench::stats_of(*workbench::read_model(path, workbench::Weights::skip), path), name);
  return json::parse(fmt::to_string(out));
}

}  // namespace

TEST_SUITE("workbench_stats") {
  TEST_CASE("counts equal the golden ones") {
    for (const std::string& name : test::workbench_names("stats", false)) {
      INFO(name);
      const json wanted = json::parse(test::workbench_text("stats/" + name + ".json"));
      json found = counted(name);
      for (const char* key : {"ir_version", "opset", "nodes", "nodes_inlined", "ops", "ops_inlined",
                              "inputs", "outputs"})
        CHECK(found[key] == wanted[key]);
      for (const char* key : {"number", "by_type", "elements", "by_shape"})
        CHECK(found["initializers"][key] == wanted["initializers"][key]);
      for (json& function : found["functions"]) function.erase("calls");
      CHECK(found["functions"] == wanted["functions"]);
    }
  }

  TEST_CASE("bounds, mean, deviation and deciles of tensors") {
    const auto path = test::workbench_file("models/corner.onnx");
    const auto found =
        workbench::tensor_stats(*workbench::read_model(path, workbench::Weights::keep), path);
    const auto one = [&](const std::string& name) {
      const auto each = std::ranges::find(found, name, &workbench::TensorStats::name);
      REQUIRE(each != found.end());
      return *each;
    };
    // onnx_diagnostic.helpers.onnx_helper.tensor_statistics of the same tensors.
    const workbench::TensorStats weights = one("W");
    CHECK(weights.least == -1);
    CHECK(weights.greatest == 1);
    CHECK(weights.mean.value() == doctest::Approx(0));
    CHECK(weights.deviation.value() == doctest::Approx(0.62764591));
    REQUIRE(weights.deciles.size() == 9);
    CHECK(weights.deciles[0] == doctest::Approx(-0.8));
    CHECK(weights.deciles[8] == doctest::Approx(0.8));
    CHECK(weights.above[0] == std::pair(0.0, std::int64_t{12}));
    CHECK(one("unused_half").mean == -0.25);
    CHECK(one("unused_int8").deviation.value() == doctest::Approx(std::sqrt(2.0 / 3)));
    CHECK(one("unused_uint8").mean == 2.5);
    CHECK(one("unused_double").nans == 1);  // Its bounds are those of the other three.
    CHECK(one("unused_double").least.has_value());
    CHECK(one("c_is").greatest == 7);
    CHECK(one("unused_bool").deciles.empty());
  }

  TEST_CASE("the two layers of a LLaMA are one block twice") {
    const json blocks = counted("llama")["blocks"];
    REQUIRE(!blocks.empty());
    CHECK(blocks[0]["times"] == 2);
    CHECK(blocks[0]["first"] == "layers.0");
    CHECK(blocks[0]["last"] == "layers.1");
  }
}

}  // namespace symprof::stats_test
