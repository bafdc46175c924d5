// Roofline bounds of layers.
#include "engine/costs.h"

#include <doctest/doctest.h>

#include "engine/layer_time.h"
#include "engine/read.h"
#include "tests/support/engine_text.h"
#include "tests/support/source_folder.h"
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
  TEST_CASE("without a model the memory bound, with one the larger bound") {
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
    CHECK(large.other_flops == 7);  // Of a node without a layer.
  }

  TEST_CASE("the rate is that of the kernel's dtype") {
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

  TEST_CASE("a layer as one kernel of the time model") {
    const std::string filter = R"(, "ParameterType": "Convolution", "Kernel": [3,3], "Groups": )";
    const auto kernel = [&](const std::string& type, const std::string& dtype,
                            const std::string& more, std::optional<std::int64_t> flops) {
      const Engine engine =
          read_engine("[" +
                          test::layer_text("a", type, test::tensor_text("x", dtype),
                                           test::tensor_text("y", dtype), more) +
                          "]",
                      "one.json");
      return kernel_of(engine.layers[0], summarize(engine, nullptr).layers[0], flops);
    };
    using profile::TimeClass;
    const auto half = kernel("CaskConvolution", "Half", filter + "1", {});
    REQUIRE(half);
    CHECK(half->time_class == TimeClass::convolution_16bit);
    const auto& work = std::get<profile::ConvolutionWork>(half->work);
    CHECK(work.window == 3 * 3);
    CHECK(work.in == 4 * 4);
    CHECK(work.in_channels == 8);
    const auto whole = kernel("CaskConvolution", "Int8", filter + "2", {});
    REQUIRE(whole);
    CHECK(whole->time_class == TimeClass::convolution_16bit);
    // Tensor cores take two numbers of 8 bits for one of 16.
    CHECK(std::get<profile::ConvolutionWork>(whole->work).in_channels == 8 / 2);
    CHECK(std::get<profile::ConvolutionWork>(whole->work).groups == 2);
    const auto depthwise = kernel("CaskConvolution", "Half", filter + "8", {});
    REQUIRE(depthwise);
    CHECK(std::get<profile::StreamWork>(depthwise->work).bytes == 2 * tensor_bytes);
    // [1 * 8 * 4, k] times [k, 4].
    const auto product = kernel("gemm", "Half", "", 2 * (8 * 4) * 4 * 64);
    REQUIRE(product);
    CHECK(std::get<profile::ProductWork>(product->work).k == 64);
    CHECK_FALSE(kernel("gemm", "Half", "", std::nullopt));
    CHECK_FALSE(kernel("NoOp", "Half", "", std::nullopt));
    CHECK_FALSE(
        kernel("kgen", "Half", "",
               static_cast<std::int64_t>(1000 * tensor_bytes)));  // Too much for a pointwise one.
    CHECK_FALSE(kernel("PluginV2", "Half", "", std::nullopt));
    CHECK(kernel("PointWiseV2", "Half", "", std::nullopt)->time_class == TimeClass::elementwise);
  }

  TEST_CASE("fused attention and products with fused operators, named by Myelin") {
    const auto tensor = [](const char* name, const char* sizes) {
      return std::string(R"({"Name": ")") + name + R"(", "Dimensions": [)" + sizes +
             R"(], "Format/Datatype": "Half"})";
    };
    const auto kernel = [&](const std::string& name, const std::string& inputs,
                            const std::string& output, std::int64_t flops) {
      const Engine engine =
          read_engine("[" + test::layer_text(name, "kgen", inputs, output) + "]", "one.json");
      return kernel_of(engine.layers[0], summarize(engine, nullptr).layers[0], flops);
    };
    // Four heads, 40 queries and 50 keys of 64 numbers, and six more FLOPs for each pair.
    const std::string operands = tensor("q", "4,40,64") + "," + tensor("k", "4,64,50") + "," +
                                 tensor("mask", "1,1,40,50") + "," + tensor("v", "4,50,64");
    const std::int64_t flops = 4 * 40 * 50 * (4 * 64 + 6);
    const auto attention = kernel("_gemm_mha_v2_myl0_3", operands, tensor("y", "4,40,64"), flops);
    REQUIRE(attention);
    CHECK(attention->time_class == profile::TimeClass::attention_flash);
    const auto& work = std::get<profile::AttentionWork>(attention->work);
    CHECK(work.batch == 4);
    CHECK(work.queries == 40);
    CHECK(work.keys == 50);
    CHECK(work.head_dim == 64);
    CHECK_FALSE(kernel("_gemm_mha_v2_myl0_3", operands, tensor("y", "4,40,64"), 2 * flops));
    const auto product = kernel("__myl_Fc_myl0_6", tensor("x", "1,40,256"), tensor("y", "1,40,512"),
                                2 * 40 * 256 * 512);
    REQUIRE(product);
    CHECK(std::get<profile::ProductWork>(product->work).k == 256);
    CHECK_FALSE(kernel("__myl_FcMulFc_myl0_6", tensor("x", "1,40,256"), tensor("y", "1,40,512"),
                       2 * 40 * 256 * 512));
  }

  TEST_CASE("estimates of ResNet-18, except the convolution with a fused pooling") {
    const std::string path = test::engine_samples + "resnet18_qat-residual";
    const Engine engine = read_engine(path + ".graph.json");
    const Times times = read_times(path + ".profile.json");
    const EngineSummary summary = summarize(engine, &times);
    const std::string devices = test::source_folder() + "/devices";
    const DeviceSpec device = find_device("a100-80g-pcie", devices);
    EngineCosts costs = cost_layers(engine, summary, device, nullptr, nullptr, nullptr);
    profile::TimeModel model = profile::time_model_of(device, devices + "/time/data_sheet.json");
    estimate_layers(engine, summary, model, costs);
    CHECK(costs.unestimated_layers == 1);
    double sum = 0, without_ms = 0;
    for (std::size_t i = 0; i < engine.layers.size(); ++i) {
      const LayerCost& cost = costs.layers[i];
      const bool is_known =
          summary.layers[i].has_kernel && engine.layers[i].subtype != "ConvActPool";
      CHECK(cost.estimated_ms.has_value() == is_known);
      if (!cost.estimated_ms) {
        without_ms += summary.layers[i].measured_ms.value();
        continue;
      }
      CHECK(*cost.estimated_low_ms <= *cost.estimated_ms);
      CHECK(*cost.estimated_ms <= *cost.estimated_high_ms);
      sum += *cost.estimated_ms;
    }
    CHECK(sum == doctest::Approx(costs.estimated_ms));
    CHECK(costs.estimated_measured_ms == doctest::Approx(summary.measured_ms - without_ms));
  }
}

}  // namespace symprof::engine
