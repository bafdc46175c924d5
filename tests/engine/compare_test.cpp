// Alignment of two engines.
#include "engine/compare.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <utility>

#include "engine/causes.h"
#include "engine/layer_kinds.h"
#include "engine/read.h"
#include "tests/support/engine_text.h"

namespace symprof::engine {
namespace {

using Kind = ComparedLayers::Kind;

struct Read {
  explicit Read(const std::string& text)
      : engine(read_engine(text, "engine")), summary(summarize(engine, nullptr)) {}
  explicit Read(const char* sample, bool) {
    const std::string path = test::engine_samples + sample;
    engine = read_engine(path + ".graph.json");
    engine.times = read_times(path + ".profile.json");
    summary = summarize(engine, nullptr);
  }
  Engine engine;
  EngineSummary summary;
};

std::vector<ComparedLayers> compared(const Read& a, const Read& b) {
  return compare(a.engine, a.summary, b.engine, b.summary);
}

}  // namespace

TEST_SUITE("engine_compare") {
  TEST_CASE("an engine aligns with itself") {
    const Read engine("resnet18_qat", true);
    const auto found = compared(engine, engine);
    CHECK(std::cmp_equal(found.size(), engine.summary.kernels.layers));
    for (const ComparedLayers& each : found) {
      CHECK(each.kind == Kind::same);
      CHECK(each.before == each.after);
    }
  }

  TEST_CASE("layers align by name, by nodes, by groups, or are in one engine only") {
    const Read a(std::string(
        R"json(["c + d", "w + QuantizeLinear_9 + Conv_1 + Relu_2", "Conv_3 + Add_4", "PWN(Relu_5)", "x", "k_myl3_1"])json"));
    const Read b(std::string(
        R"json(["y", "c + d", "w + Conv_1 + Relu_2 + (Unnamed Layer* 3) [Shuffle]", "Conv_3", "PWN(Add_4, Relu_5)", "k_myl7_0"])json"));
    const auto found = compared(a, b);
    const auto kind_of = [&](int before) {
      for (const ComparedLayers& each : found)
        if (std::ranges::find(each.before, before) != each.before.end()) return each;
      return ComparedLayers{};
    };
    CHECK(kind_of(0).kind == Kind::same);
    CHECK(kind_of(0).after == std::vector<int>{1});
    CHECK(kind_of(2).kind == Kind::regrouped);
    CHECK(kind_of(2).before == std::vector<int>{2, 3});
    CHECK(kind_of(2).after == std::vector<int>{3, 4});
    CHECK(kind_of(4).kind == Kind::only_one);
    CHECK(kind_of(5).after == std::vector<int>{5});
    CHECK(found.back().before.empty());
    CHECK(found.back().after == std::vector<int>{0});
  }

  TEST_CASE("weights identify layers with renumbered nodes") {
    const Read a(std::string(R"(["a.weight + Conv_1", "b.weight + Conv_2 + Relu_3"])"));
    const Read b(std::string(R"(["a.weight + Conv_2", "b.weight + Conv_4 + Add_5 + Relu_6"])"));
    const auto found = compared(a, b);
    REQUIRE(found.size() == 2);
    CHECK(found[0].kind == Kind::similar);
    CHECK(found[0].after == std::vector<int>{0});
    CHECK(found[1].kind == Kind::regrouped);  // The Add is fused in one of them.
    CHECK(found[1].after == std::vector<int>{1});
  }

  TEST_CASE("common layers of two builds of ControlNet are aligned") {
    const Read a("controlnet_7bb9d37", true), b("controlnet_d6f4129", true);
    const auto has_kernel = [](const Read& read, std::string_view name) {
      for (std::size_t i = 0; i < read.engine.layers.size(); ++i)
        if (read.engine.layers[i].name == name && read.summary.layers[i].has_kernel) return true;
      return false;
    };
    int common = 0, aligned = 0;
    for (const Layer& layer : a.engine.layers)
      common += has_kernel(a, layer.name) && has_kernel(b, layer.name);
    for (const ComparedLayers& each : compared(a, b))
      if (each.kind == Kind::same)
        aligned += a.engine.layers[static_cast<std::size_t>(each.before[0])].name ==
                   b.engine.layers[static_cast<std::size_t>(each.after[0])].name;
    REQUIRE(common > 200);
    CHECK(aligned == common);
  }

  TEST_CASE("layers in only one engine of ResNet-18 are those named by its causes") {
    const Read a("resnet18_qat", true), b("resnet18_qat-residual", true);
    std::vector<int> only_a, only_b;
    for (const ComparedLayers& each : compared(a, b)) {
      if (each.after.empty()) only_a.insert(only_a.end(), each.before.begin(), each.before.end());
      if (each.before.empty()) only_b.insert(only_b.end(), each.after.begin(), each.after.end());
      // A separate pooling layer of one engine is fused into the other's convolution.
      if (each.before == std::vector<int>{1, 2}) CHECK(each.after == std::vector<int>{1});
      // Poolings and quantizers with generic names follow the same layers.
      if (each.before == std::vector<int>{32}) CHECK(each.after == std::vector<int>{22});
      if (each.before == std::vector<int>{33}) CHECK(each.after == std::vector<int>{23});
    }
    const auto unexplained = [](const Read& read, std::vector<int> layers) {
      for (const Cause& cause : find_causes(read.engine, read.summary, nullptr, nullptr))
        for (const int layer : cause.layers) std::erase(layers, layer);
      return layers;
    };
    CHECK(only_a == std::vector<int>{3, 4, 7, 10, 14, 17, 21, 24, 28, 31});
    CHECK(only_b == std::vector<int>{19});
    CHECK(unexplained(a, only_a) == std::vector<int>{31});  // A change of layout.
    CHECK(unexplained(b, only_b).empty());
  }

  TEST_CASE("every layer with a kernel is in one row, with unchanged times") {
    const Read a("resnet18_qat", true), b("resnet18_qat-residual", true);
    std::vector<int> before, after;
    double before_ms = 0, after_ms = 0;
    for (const ComparedLayers& each : compared(a, b)) {
      before.insert(before.end(), each.before.begin(), each.before.end());
      after.insert(after.end(), each.after.begin(), each.after.end());
      before_ms += each.before_ms.value_or(0);
      after_ms += each.after_ms.value_or(0);
      CHECK(each.before_ms.has_value() == !each.before.empty());
    }
    for (const auto& [layers, read] : {std::pair{&before, &a}, std::pair{&after, &b}}) {
      std::ranges::sort(*layers);
      CHECK(std::ranges::adjacent_find(*layers) == layers->end());
      CHECK(std::cmp_equal(layers->size(), read->summary.kernels.layers));
    }
    CHECK(before_ms == doctest::Approx(a.summary.measured_ms));
    CHECK(after_ms == doctest::Approx(b.summary.measured_ms));
  }
}

}  // namespace symprof::engine
