// What a device needs at least for a layer.
#include "engine/costs.h"

#include <doctest/doctest.h>

#include "engine/read.h"
#include "tests/support/engine_text.h"
#include "trace/onnx/reader.h"

namespace symprof::engine {
namespace {

constexpr double bandwidth = 1e12, rate = 1e13;

DeviceSpec small_device() {
  DeviceSpec device;
  device.name = "small";
  device.memory_bytes_per_second = bandwidth;
  device.flops_per_second = {{"float16", rate}, {"tf32", rate / 2}, {"float32", rate / 16}};
  return device;
}

Engine two_layers(const std::string& dtype, const std::string& tactic) {
  return read_engine(
      "[" +
          test::layer_text("Conv_0 + Relu_1", "CaskConvolution", test::tensor_text("x", dtype),
                           test::tensor_text("y", dtype),
                           R"(, "TacticName": ")" + tactic + R"(")") +
          "," +
          test::layer_text("Reformatting CopyNode for Output Tensor 0 to Conv_0 + Relu_1", "NoOp",
                           "", "") +
          "]",
      "two.json");
}

Model small_model() {
  return model_of(trace::parse_onnx_text(R"(<ir_version: 8, opset_import: ["" : 13]>
g (float[1, 8, 4, 4] x, float[8, 8, 1, 1] w) => (float[1, 8, 4, 4] y, float[1, 8, 4, 4] n) {
  [Conv_0] c = Conv (x, w)
  [Relu_1] y = Relu (c)
  [Neg_2] n = Neg (x)
})",
                                         "small.onnx"));
}

EngineCosts costs_of(const Engine& engine, const NodeFlops& flops) {
  const Model model = small_model();
  const NodeMap map = map_nodes(engine, model);
  return cost_layers(engine, summarize(engine, nullptr), small_device(), &model, &map, &flops);
}

constexpr double tensor_bytes = 8 * 4 * 4 * 2;

}  // namespace

TEST_SUITE("engine_costs") {
  TEST_CASE("memory without a model, and what is larger with one") {
    const Engine engine = two_layers("Half", "");
    const EngineCosts alone =
        cost_layers(engine, summarize(engine, nullptr), small_device(), nullptr, nullptr, nullptr);
    CHECK(alone.layers[0].least_ms.value() == doctest::Approx(1e3 * 2 * tensor_bytes / bandwidth));
    CHECK(alone.layers[0].limit == "memory");
    CHECK_FALSE(alone.layers[0].flops.has_value());
    CHECK_FALSE(alone.layers[1].least_ms.has_value());  // No kernel runs for it.
    CHECK(alone.unknown_layers == 0);

    const EngineCosts large =
        costs_of(engine, {{"Conv_0", 1000000}, {"Relu_1", 128}, {"Neg_2", 7}});
    CHECK(large.layers[0].flops == 1000000 + 128);
    CHECK(large.layers[0].limit == "compute");
    CHECK(large.layers[0].least_ms.value() == doctest::Approx(1e3 * (1000000 + 128) / rate));
    CHECK(large.flops == 1000000 + 128);
    CHECK(large.other_flops == 7);  // Of a node that no layer has.
  }

  TEST_CASE("the rate is that of the kernel's type") {
    const NodeFlops flops = {{"Conv_0", 1000000}};
    CHECK(costs_of(two_layers("Float", "sm80_tf32f32"), flops).layers[0].least_ms.value() ==
          doctest::Approx(1e3 * 1000000 / (rate / 2)));
    CHECK(costs_of(two_layers("Float", "sm80_f32f32"), flops).layers[0].least_ms.value() ==
          doctest::Approx(1e3 * 1000000 / (rate / 16)));
  }

  TEST_CASE("a node without a rule leaves its layer's FLOPs unknown") {
    const EngineCosts costs =
        costs_of(two_layers("Half", ""), {{"Conv_0", 1000000}, {"Relu_1", std::nullopt}});
    CHECK_FALSE(costs.layers[0].flops.has_value());
    CHECK(costs.layers[0].limit == "memory");
    const Engine unsized = read_engine(R"(["Conv_0"])", "names.json");
    CHECK(costs_of(unsized, {}).unknown_layers == 1);
  }
}

}  // namespace symprof::engine
