// Every form in which TensorRT's tools describe an engine.
#include "engine/read.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "engine/layer_kinds.h"
#include "engine/summary.h"
#include "tests/support/engine_text.h"

namespace symprof::engine {
namespace {

Engine parse(const std::string& text) { return read_engine(text, "engine"); }

const std::string convolution =
    R"({"Name": "Conv_0 + Relu_1", "LayerType": "CaskConvolution", "NewField": {"a": [1]},
  "Inputs": [{"Name": "x", "Location": "Device", "Dimensions": [1,3,8,8],
    "Format/Datatype": "Row major linear FP32"}],
  "Outputs": [{"Name": "y", "Location": "Device", "Dimensions": [1,33,8,8],
    "Format/Datatype": "Thirty-two wide channel vectorized row major Int8 format"}],
  "ParameterType": "Convolution", "Weights": {"Type": "Int8", "Count": 891},
  "Bias": {"Type": "Float", "Count": 33}, "TacticName": "sm80", "TacticValue": "0x1",
  "StreamId": 0, "Metadata": "[ONNX Layer: Conv_0]\u001e[ONNX Layer: Relu_1]"})";

void check_convolution(const Engine& engine) {
  REQUIRE(engine.layers.size() == 1);
  const Layer& layer = engine.layers.front();
  CHECK(layer.name == "Conv_0 + Relu_1");
  CHECK(layer.type == "CaskConvolution");
  CHECK(layer.metadata == std::vector<std::string>{"Conv_0", "Relu_1"});
  CHECK(bytes(layer.inputs.at(0)) == 1 * 3 * 8 * 8 * 4);
  CHECK(bytes(layer.outputs.at(0)) == 1 * (2 * 32) * 8 * 8 * 1);
  CHECK(layer.weight_bytes == 891 * 1 + 33 * 4);
  CHECK(precision(layer) == "float32 → int8");
  CHECK(engine.warnings.empty());
}

}  // namespace

TEST_SUITE("engine_readers") {
  TEST_CASE("JSON lists under every tool's key") {
    check_convolution(parse(R"({"Layers": [)" + convolution + R"(], "Bindings": ["x", "y"]})"));
    check_convolution(parse(R"({"layerInfo": [)" + convolution + "]}"));
    check_convolution(parse("[" + convolution + "]"));
    check_convolution(parse(convolution));
    check_convolution(parse("--- Layer 0 ---\n" + convolution));
  }

  TEST_CASE("names alone") {
    const Engine engine = parse(R"({"Layers": ["A + B"
,"Reformatting CopyNode for Output Tensor 0 to A + B"
], "Bindings": ["x:0"
]})");
    REQUIRE(engine.layers.size() == 2);
    CHECK(is_reformat(engine.layers[1]));
    CHECK(engine.bindings == std::vector<std::string>{"x:0"});
    CHECK(summarize(engine, nullptr).untyped_layers == 2);
    CHECK_FALSE(summarize(engine, nullptr).layers[0].bytes_read.has_value());
  }

  TEST_CASE("a line of the inspector's text equals its JSON") {
    check_convolution(parse(
        "Layers:\nName: Conv_0 + Relu_1, LayerType: CaskConvolution, Inputs: [ { Name: x, "
        "Location: Device, Dimensions: [1,3,8,8], Format/Datatype: Row major linear FP32 }], "
        "Outputs: [ { Name: y, Location: Device, Dimensions: [1,33,8,8], Format/Datatype: "
        "Thirty-two wide channel vectorized row major Int8 format }], ParameterType: Convolution, "
        "Weights: {\"Type\": \"Int8\", \"Count\": 891}, Bias: {\"Type\": \"Float\", \"Count\": "
        "33}, "
        "TacticName: sm80, TacticValue: 0x1, StreamId: 0, Metadata: [ONNX Layer: Conv_0][ONNX "
        "Layer: Relu_1]\n"));
  }

  TEST_CASE("names with commas, brackets and colons, in lines") {
    const Engine engine = parse(
        "Name: PWN(PWN(a), b + (Unnamed Layer* 1) [Shuffle]), LayerType: PointWiseV2, Inputs: [ { "
        "Name: (Unnamed Layer* 1) [Constant]_output, Dimensions: [], Format/Datatype: Half }, { "
        "Name: b3/read:0, x, Dimensions: [2,-1], Format/Datatype: Half }], Outputs: [], "
        "TacticName: , StreamId: 0, Metadata: \n");
    REQUIRE(engine.layers.size() == 1);
    CHECK(engine.layers[0].name == "PWN(PWN(a), b + (Unnamed Layer* 1) [Shuffle])");
    REQUIRE(engine.layers[0].inputs.size() == 2);
    CHECK(engine.layers[0].inputs[0].name == "(Unnamed Layer* 1) [Constant]_output");
    CHECK(engine.layers[0].inputs[1].name == "b3/read:0, x");
    CHECK(engine.layers[0].inputs[1].dimensions == std::vector<std::int64_t>{2, -1});
    CHECK_FALSE(bytes(engine.layers[0].inputs[1]).has_value());
  }

  TEST_CASE("one-line layers of three versions") {
    const Engine engine = parse(
        "[12/06/2022-19:26:21] [V] [TRT] Engine Layer Information:\n"
        "Layer(CaskConvolution): Pad_6 + a.weight + Conv_13, Tactic: 0x11, 581 "
        "(Int8[1,96:32,800,912]), z (Half[1,2]) -> 596 (Int8[1,64:32,800,912])\n"
        "Layer(CaskConvolution): b + Conv_33, Tactic: -3908975881807046106, Reformatted Input "
        "Tensor 0 to b + Conv_33[Int8(1,8,320,181)] -> 444[Float(1,16,320,181)]\n"
        "DEBUG: [TRTorch Conversion Context] - Layer(i8816cudnn): %input.28 : Tensor = "
        "aten::_convolution(%141, %10) + %input.29\n");
    REQUIRE(engine.layers.size() == 3);
    CHECK(engine.layers[0].name == "Pad_6 + a.weight + Conv_13");
    REQUIRE(engine.layers[0].inputs.size() == 2);
    CHECK(bytes(engine.layers[0].inputs[0]) == 96 * 800 * 912);
    CHECK(engine.layers[1].tactic == "-3908975881807046106");
    CHECK(engine.layers[1].inputs.at(0).name == "Reformatted Input Tensor 0 to b + Conv_33");
    CHECK(engine.layers[1].outputs.at(0).dtype == "float32");
    CHECK(engine.layers[2].name ==
          "%input.28 : Tensor = aten::_convolution(%141, %10) + %input.29");
    REQUIRE(engine.warnings.size() == 1);
    CHECK(engine.warnings[0].starts_with("line 4: "));
  }

  TEST_CASE("polygraphy's list") {
    const Engine engine = parse(
        "    Layer 57   | Reformatting CopyNode for Input Tensor 0 to X [Op: NoOp]\n"
        "        {X_out [dtype=float16, shape=(646, 2048, 1, 1), Format: Channel major FP16 format "
        "where channel % 8 == 0]}\n"
        "         -> {Y [dtype=float16, shape=(646, 2048, 1, 1), Format: Row major linear FP16 "
        "format]}\n"
        "    Layer 59   | PWN(PWN(a, b\n");
    REQUIRE(engine.layers.size() == 2);
    CHECK(engine.layers[0].type == "NoOp");
    CHECK_FALSE(has_kernel(engine.layers[0]));
    CHECK(bytes(engine.layers[0].inputs.at(0)) == 646 * 2048 * 2);
    CHECK(engine.layers[0].outputs.at(0).layout == "NCHW");
    CHECK(engine.layers[1].name == "PWN(PWN(a, b");
  }

  TEST_CASE("sums that overflow 64 bits are unknown") {
    const std::string large =
        R"({"Name": "t", "Dimensions": [1073741824,1073741823], "Format/Datatype": "Int8"})";
    std::string seven = large;
    for (int i = 1; i < 7; ++i) seven += "," + large;
    const auto figures = [](const std::string& inputs, const std::string& outputs) {
      const Engine engine =
          parse("[" +
                test::layer_text("Conv_0", "CaskConvolution", inputs, outputs,
                                 R"(, "Weights": {"Type": "Int8", "Count": 999999999999999})") +
                "]");
      return summarize(engine, nullptr).layers.at(0);
    };
    CHECK(figures(seven, large).bytes_read.has_value());
    CHECK_FALSE(figures(seven + "," + large, large).bytes_read.has_value());
    CHECK_FALSE(bytes_moved(figures(seven, seven)).has_value());
  }

  TEST_CASE("names without escapes") {
    const Engine engine = parse(
        "[ {\"count\" : 2}\n, { \"name\" : \"a \"b\" \x1f c\\d\", "
        "\"timeMs\" : 3, \"averageMs\" : 1.5, \"percentage\" : 100 }\n]");
    REQUIRE(engine.layers.size() == 1);
    CHECK(engine.layers[0].name == "a \"b\" \x1f c\\d");
    CHECK(engine.times.value().layers.at(0).average_ms == 1.5);
    CHECK(engine.warnings.empty());
  }

  TEST_CASE("a truncated file reports its position, and keeps complete parts") {
    const std::string whole = "{\"Layers\": [\n" + convolution + ",\n" + convolution + "]}";
    const Engine engine = parse(whole.substr(0, whole.size() - 30));
    CHECK(engine.layers.size() == 1);
    REQUIRE(engine.warnings.size() == 1);
    CHECK(engine.warnings[0].starts_with("line "));
    const Engine line = parse(
        "Name: a, LayerType: kgen, Inputs: [ { Name: x, Dimensions: [1], Format/Datatype: Half }, "
        "{ Name: y, Dim");
    CHECK(line.layers.size() == 1);
    CHECK(line.warnings.at(0).starts_with("line 1: "));
    CHECK_THROWS_AS(parse("nothing of an engine"), Error);
    CHECK_THROWS_AS(parse("{\"Layers\": []}"), Error);
    CHECK_THROWS_AS(parse(""), Error);
  }

  TEST_CASE("samples of other tools") {
    const Engine log = read_engine(test::engine_samples + "mnist.inspector.log");
    CHECK(log.layers.size() == 2 * 13);
    CHECK(log.layers[13].name == "node_conv2d + node_relu");
    CHECK(log.layers[13].profile == 1);
    CHECK(log.bindings == std::vector<std::string>{"x", "y", "z"});
    CHECK(log.warnings.empty());
    CHECK(read_engine(test::engine_samples + "mnist.graph.json").layers.size() == 9);
    const Engine mlp = read_engine(test::engine_samples + "mlp.layers.txt");
    CHECK(mlp.layers.size() == 7);
    CHECK(mlp.warnings.size() == 1);  // The line that its author abridged.
  }

  TEST_CASE("the filter of a convolution, in JSON and in text") {
    const std::string json = R"([{"Name": "a", "Kernel": [3,5], "Groups": 4}])";
    const std::string text =
        "Name: a, LayerType: CaskConvolution, Inputs: [ { Name: x, Dimensions: [1,8,4,4], "
        "Format/Datatype: Half }], Outputs: [ { Name: y, Dimensions: [1,8,4,4], Format/Datatype: "
        "Half }], ParameterType: Convolution, Kernel: [3,5], Groups: 4, Activation: NONE\n";
    for (const std::string& each : {json, text}) {
      const Engine engine = read_engine(each, "one");
      REQUIRE(engine.layers.size() == 1);
      REQUIRE(engine.layers[0].filter);
      CHECK(engine.layers[0].filter->window == 3 * 5);
      CHECK(engine.layers[0].filter->groups == 4);
    }
    for (const char* odd :
         {R"([{"Name": "a", "Kernel": [0,3]}])", R"([{"Name": "a", "Kernel": 3}])",
          R"([{"Name": "a", "Kernel": [1e9,1e9,1e9]}])",
          R"([{"Name": "a", "Kernel": [3], "Groups": -1}])"})
      CHECK_FALSE(read_engine(odd, "odd").layers[0].filter);
  }
}

}  // namespace symprof::engine
