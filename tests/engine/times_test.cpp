// Profiles, and joining them with layers.
#include "engine/times.h"

#include <doctest/doctest.h>

#include <cmath>

#include "base/error.h"
#include "engine/read.h"
#include "engine/summary.h"
#include "tests/support/engine_text.h"

namespace symprof::engine {
namespace {

std::vector<Layer> layers_called(std::initializer_list<const char*> names) {
  std::vector<Layer> layers;
  for (const char* name : names) layers.push_back({.name = name, .type = "kgen"});
  return layers;
}

Times times_called(std::initializer_list<const char*> names) {
  Times times{.runs = 1};
  for (const char* name : names) {
    const auto ms = static_cast<double>(times.layers.size() + 1);
    times.layers.push_back({.name = name, .average_ms = ms, .total_ms = ms});
  }
  return times;
}

}  // namespace

TEST_SUITE("engine_times") {
  TEST_CASE("log tables of versions with different columns") {
    const Times old = read_times(
        "[07/31/2021-01:54:24] [I] === Profile (137 iterations ) ===\n"
        "[07/31/2021-01:54:24] [I]     Layer   Time (ms)   Avg. Time (ms)   Time %\n"
        "[07/31/2021-01:54:24] [I]    Copy 0 to Conv_0       58.18           0.4247      6.6\n"
        "[07/31/2021-01:54:24] [I]     Total   58.18   0.4247   100.0\n",
        "log");
    CHECK(old.runs == 137);
    REQUIRE(old.layers.size() == 1);
    CHECK(old.layers[0].name == "Copy 0 to Conv_0");
    CHECK(old.layers[0].average_ms == 58.18 / 137);
    const Times newer = read_times(
        "[05/08/2024-14:05:14] [I] === Profile (2094 iterations ) ===\n"
        "[05/08/2024-14:05:14] [I]    Time(ms)     Avg.(ms)   Median(ms)   Time(%)   Layer\n"
        "[05/08/2024-14:05:14] [I]       16.15       0.0077       0.0075       0.5   a + b 2\n",
        "log");
    REQUIRE(newer.layers.size() == 1);
    CHECK(newer.layers[0].name == "a + b 2");
    CHECK(newer.layers[0].median_ms == 0.0075);
  }

  TEST_CASE("lines of a custom profiler are microseconds") {
    const Times times = read_times("Timing: 37.472us -> node_conv2d\nTiming: 2us -> b\n", "log");
    REQUIRE(times.layers.size() == 2);
    CHECK(times.layers[0].average_ms == doctest::Approx(0.037472));
    CHECK_THROWS_AS(read_times("nothing", "log"), Error);
  }

  TEST_CASE("equal counts join by position, and names are compared") {
    const auto joined = join(layers_called({"a", "a", "b"}), times_called({"a", "a", "b"}));
    CHECK(joined.warnings.empty());
    CHECK(joined.average_ms == std::vector<std::optional<double>>{1.0, 2.0, 3.0});
    const auto renamed = join(layers_called({"a", "b"}), times_called({"b", "a"}));
    CHECK(renamed.average_ms == std::vector<std::optional<double>>{1.0, 2.0});
    REQUIRE(renamed.warnings.size() == 1);
    CHECK(renamed.warnings[0].find("2 of 2 names differ") != std::string::npos);
  }

  TEST_CASE("different counts join the k-th record of a name to its k-th layer") {
    const auto joined = join(layers_called({"a", "b", "a"}), times_called({"a", "c", "a", "a"}));
    CHECK(joined.average_ms == std::vector<std::optional<double>>{1.0, std::nullopt, 3.0});
    REQUIRE(joined.warnings.size() == 1);
    CHECK(joined.warnings[0].find("2 records have no layer, and 1 layers") != std::string::npos);
    CHECK(joined.sum_ms == 1 + 2 + 3 + 4);
  }

  TEST_CASE("each pair joins without a warning, and its reformats have their share of the sum") {
    struct Expected {
      const char* name;
      std::size_t layers;
      double measured_ms;  ///< The sum of the records.
      double reformats;    ///< The share of those named "Reformatting CopyNode".
    };
    for (const Expected& expected : {Expected{"controlnet_7bb9d37", 388, 3.591899, 0.07314},
                                     {"controlnet_b3d06c8", 385, 8.97295, 0.024},
                                     {"controlnet_d6f4129", 389, 15.294634, 0.05315},
                                     {"detector_int8", 86, 403.815802, 0.03372},
                                     {"mobilenetv2_qat", 73, 0.470389, 0.00865},
                                     {"mobilenetv2_residuals", 58, 0.355921, 0.01179},
                                     {"resnet18_fp16", 36, 1.016832, 0.08661},
                                     {"resnet18_fp32", 32, 2.123776, 0.02122},
                                     {"resnet18_qat", 37, 1.09568, 0.04206},
                                     {"resnet18_qat-residual", 26, 0.731136, 0},
                                     {"resnet18_qat-residual-qgap", 24, 0.672768, 0},
                                     {"tf_resnet50_fp16", 86, 4.272736, 0.01107},
                                     {"tf_resnet50_fp32", 103, 12.399744, 0.02666},
                                     {"tf_resnet50_qat", 63, 2.380608, 0.00215}}) {
      CAPTURE(expected.name);
      const Engine engine = read_engine(test::engine_samples + expected.name + ".graph.json");
      const Times times = read_times(test::engine_samples + expected.name + ".profile.json");
      const EngineSummary summary = summarize(engine, &times);
      CHECK(engine.layers.size() == expected.layers);
      CHECK(summary.warnings.empty());
      for (std::size_t i = 0; i < expected.layers; ++i)
        CHECK(engine.layers[i].name == times.layers[i].name);
      double sum = 0;
      for (const LayerFigures& layer : summary.layers) sum += layer.measured_ms.value();
      CHECK(sum == doctest::Approx(expected.measured_ms).epsilon(0.001));
      const double share = summary.reformats.measured_ms / summary.measured_ms;
      CHECK(std::abs(share - expected.reformats) < 0.001);
    }
  }

  TEST_CASE("TREx's engines of ResNet-18") {
    // 37 layers, 10 quantizers alone: examples/pytorch/resnet of trt-engine-explorer.
    struct Expected {
      const char* name;
      std::size_t layers;
      std::int64_t quantizers;
      double measured_ms;
    };
    for (const Expected& expected : {Expected{"resnet18_qat", 37, 10, 1.096},
                                     {"resnet18_qat-residual", 26, 3, 0.731},
                                     {"resnet18_qat-residual-qgap", 24, 1, 0.673},
                                     {"resnet18_fp16", 36, 0, 1.017},
                                     {"resnet18_fp32", 32, 0, 2.124}}) {
      CAPTURE(expected.name);
      const Engine engine = read_engine(test::engine_samples + expected.name + ".graph.json");
      const Times times = read_times(test::engine_samples + expected.name + ".profile.json");
      const EngineSummary summary = summarize(engine, &times);
      CHECK(engine.layers.size() == expected.layers);
      CHECK(summary.quantizers.layers == expected.quantizers);
      CHECK(summary.measured_ms == doctest::Approx(expected.measured_ms).epsilon(0.001));
      CHECK(summary.warnings.empty());
      double sum = 0;
      for (const LayerFigures& layer : summary.layers) sum += layer.measured_ms.value();
      CHECK(sum == doctest::Approx(summary.measured_ms).epsilon(1e-9));
    }
  }
}

}  // namespace symprof::engine
