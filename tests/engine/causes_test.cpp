// Causes of failed fusions: in TREx's engines of ResNet-18, and in synthetic engines that break one
// rule each.
#include "engine/causes.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <optional>

#include "engine/ideal.h"
#include "engine/read.h"
#include "engine/summary.h"
#include "tests/support/engine_text.h"
#include "trace/onnx/reader.h"

namespace symprof::engine {
namespace {

std::vector<Cause> causes_of(const Engine& engine, const Times* times = nullptr,
                             const Model* model = nullptr) {
  const EngineSummary summary = summarize(engine, times);
  if (!model) return find_causes(engine, summary, nullptr, nullptr);
  const NodeMap map = map_nodes(engine, *model);
  return find_causes(engine, summary, model, &map);
}

std::vector<Cause> causes_of_sample(const std::string& name) {
  const std::string path = test::engine_samples + name;
  const Times times = read_times(path + ".profile.json");
  return causes_of(read_engine(path + ".graph.json"), &times);
}

double sum_of(const std::vector<Cause>& causes, Cause::Kind kind) {
  double sum = 0;
  for (const Cause& cause : causes)
    if (cause.kind == kind) sum += cause.measured_ms.value();
  return sum;
}

/// The rule that a synthetic network breaks.
enum class Broken {
  nothing,
  residual,       ///< The residual has no Q and DQ.
  pool,           ///< The pooling between two convolutions has no Q and DQ before it.
  chain,          ///< Q and DQ stand between convolution and activation.
  second_reader,  ///< The convolution's result has another consumer.
  graph_output,   ///< The convolution's result is an output.
  cast,           ///< A cast stands between convolution and activation.
  head,           ///< Q and DQ before an operator not fed by a convolution.
  operand,        ///< The convolution's result is multiplied with another activation.
};

/// A model of `blocks` convolutions with activations, one of them with a broken rule, and the
/// engine that TensorRT would build: operators that rules allow to fuse are one layer.
class Generator {
 public:
  Generator(Broken broken, int blocks, int at) : broken_(broken) {
    for (int i = 0; i < blocks; ++i) add_block(i, i == at ? broken : Broken::nothing);
    add_output();
  }

  Model model() const {
    const std::string text =
        "<ir_version: 8, opset_import: [\"\" : 13]>\ng (float[1, 8, 4, 4] t0, "
        "float[1, 8, 4, 4] other, float[8, 8, 1, 1] w, float s, int8 z) => (" +
        outputs_ + ") {\n" + nodes_ + "}";
    return model_of(trace::parse_onnx_text(text, "generated.onnx"));
  }

  Engine engine() const { return read_engine("[" + layers_ + "]", "generated.json"); }
  Times times() const { return times_; }
  /// Time of the layers caused by the broken rule.
  double cost_ms() const { return cost_ms_; }

 private:
  static bool is_quantized(Broken broken) {
    return broken == Broken::residual || broken == Broken::pool || broken == Broken::chain ||
           broken == Broken::head;
  }

  void add_node(const std::string& name, const std::string& output, const std::string& call) {
    nodes_ += "  [" + name + "] " + output + " = " + call + "\n";
  }

  struct Flow {
    std::string name, type;
  };

  void add_layer(const std::string& name, const std::string& type, const std::vector<Flow>& inputs,
                 const Flow& output, bool is_cost, const std::string& more = "") {
    const auto tensor = [](const Flow& flow) { return test::tensor_text(flow.name, flow.type); };
    std::string list;
    for (const Flow& flow : inputs) list += (list.empty() ? "" : ",") + tensor(flow);
    layers_ +=
        (layers_.empty() ? "" : ",\n") + test::layer_text(name, type, list, tensor(output), more);
    const double ms = 0.01 * static_cast<double>(times_.layers.size() + 1);
    times_.layers.push_back({.name = name, .average_ms = ms, .total_ms = ms});
    if (is_cost) cost_ms_ += ms;
  }

  void add_block(int index, Broken broken) {
    const std::string n = std::to_string(index), in = "t" + n,
                      out = "t" + std::to_string(index + 1);
    if (is_quantized(broken_))
      add_quantized_block(n, in, out, broken);
    else
      add_plain_block(n, in, out, broken);
  }

  void add_plain_block(const std::string& n, const std::string& in, const std::string& out,
                       Broken broken) {
    const std::string conv = "c" + n;
    add_node("Conv_" + n, conv, "Conv (" + in + ", w)");
    if (broken == Broken::nothing) {
      add_node("Relu_" + n, out, "Relu (" + conv + ")");
      return add_layer("Conv_" + n + " + Relu_" + n, "CaskConvolution", {{in, "Half"}},
                       {out, "Half"}, false);
    }
    add_layer("Conv_" + n, "CaskConvolution", {{in, "Half"}}, {conv, "Half"}, false);
    std::string read = conv;
    if (broken == Broken::cast) {
      read = "k" + n;
      add_node("Cast_" + n, read, "Cast <to: int = 1> (" + conv + ")");
    }
    if (broken == Broken::graph_output) outputs_ += "float[1, 8, 4, 4] " + conv + ", ";
    if (broken == Broken::operand) {
      add_node("Mul_" + n, out, "Mul (" + conv + ", other)");
      return add_layer("PWN(Mul_" + n + ")", "PointWiseV2", {{conv, "Half"}, {"other", "Half"}},
                       {out, "Half"}, true);
    }
    add_node("Relu_" + n, out, "Relu (" + read + ")");
    add_layer("PWN(Relu_" + n + ")", "PointWiseV2", {{conv, "Half"}}, {out, "Half"}, true);
    if (broken == Broken::second_reader) {
      add_node("Softmax_" + n, "m" + n, "Softmax (" + conv + ")");
      add_layer("Softmax_" + n, "CudaSoftMax", {{conv, "Half"}}, {"m" + n, "Half"}, false);
      outputs_ += "float[1, 8, 4, 4] m" + n + ", ";
    }
  }

  /// Adds Q and DQ of `value`; returns the result's name.
  std::string add_pair(const std::string& name, const std::string& value) {
    add_node("QuantizeLinear_" + name, value + "_q", "QuantizeLinear (" + value + ", s, z)");
    add_node("DequantizeLinear_" + name, value + "_d", "DequantizeLinear (" + value + "_q, s, z)");
    return value + "_d";
  }

  void add_lone_quantizer(const std::string& name, const std::string& value, bool is_cost) {
    add_layer("QuantizeLinear_" + name, "Reformat", {{value, "Half"}}, {value + "_q", "Int8"},
              is_cost, R"(, "Origin": "QDQ")");
  }

  void add_quantized_block(const std::string& n, const std::string& in, const std::string& out,
                           Broken broken) {
    const std::string read = n == "0" ? add_pair("in", in) : in + "_d";
    if (n == "0") add_lone_quantizer("in", in, false);
    const std::string conv = "c" + n, from = in + "_q";
    add_node("Conv_" + n, conv, "Conv (" + read + ", w)");
    if (broken == Broken::chain) {
      add_node("Relu_" + n, out, "Relu (" + add_pair("c" + n, conv) + ")");
      add_pair(n, out);
      add_layer("Conv_" + n, "CaskConvolution", {{from, "Int8"}}, {conv + "_q", "Int8"}, false);
      return add_layer("PWN(Relu_" + n + ")", "PointWiseV2", {{conv + "_q", "Int8"}},
                       {out + "_q", "Int8"}, true);
    }
    if (broken == Broken::residual) {
      add_node("Add_" + n, out, "Add (" + conv + ", other)");
      add_pair(n, out);
      add_layer("Conv_" + n + " + Add_" + n, "CaskConvolution", {{from, "Int8"}, {"other", "Half"}},
                {out, "Half"}, false);
      return add_lone_quantizer(n, out, true);
    }
    if (broken == Broken::pool) {
      add_node("GlobalAveragePool_" + n, out, "GlobalAveragePool (" + conv + ")");
      add_pair(n, out);
      add_layer("Conv_" + n, "CaskConvolution", {{from, "Int8"}}, {conv, "Half"}, false);
      add_layer("GlobalAveragePool_" + n, "CaskPooling", {{conv, "Half"}}, {out, "Half"}, false);
      return add_lone_quantizer(n, out, true);
    }
    if (broken == Broken::head) return add_head(n, from, conv, out);
    add_node("Relu_" + n, out, "Relu (" + conv + ")");
    add_pair(n, out);
    add_layer("Conv_" + n + " + Relu_" + n, "CaskConvolution", {{from, "Int8"}},
              {out + "_q", "Int8"}, false);
  }

  void add_head(const std::string& n, const std::string& from, const std::string& conv,
                const std::string& out) {
    const std::string soft = "m" + n;
    add_node("Softmax_" + n, soft, "Softmax (" + conv + ")");
    add_node("Tanh_" + n, out, "Tanh (" + add_pair("m" + n, soft) + ")");
    add_pair(n, out);
    add_layer("Conv_" + n, "CaskConvolution", {{from, "Int8"}}, {conv, "Half"}, false);
    add_layer("Softmax_" + n, "CudaSoftMax", {{conv, "Half"}}, {soft, "Half"}, false);
    add_lone_quantizer("m" + n, soft, true);
    add_layer("PWN(Tanh_" + n + ")", "PointWiseV2", {{soft + "_q", "Int8"}}, {out + "_q", "Int8"},
              false);
  }

  void add_output() {
    const std::string last = "t" + std::to_string(times_.layers.empty() ? 0 : last_value());
    outputs_ += "float[1, 8, 4, 4] " + last + (is_quantized(broken_) ? "_d" : "");
  }

  int last_value() const {
    int last = 0;
    for (int i = 1; nodes_.find("] t" + std::to_string(i) + " = ") != std::string::npos; ++i)
      last = i;
    return last;
  }

  Broken broken_;
  std::string nodes_, layers_, outputs_;
  Times times_{.runs = 1};
  double cost_ms_ = 0;
};

struct BrokenRule {
  Broken broken;
  std::optional<Cause::Kind> kind;
};

constexpr BrokenRule rules[] = {
    {Broken::nothing, std::nullopt},
    {Broken::residual, Cause::residual},
    {Broken::pool, Cause::unquantized_op},
    {Broken::chain, Cause::chain},
    {Broken::second_reader, Cause::second_reader},
    {Broken::graph_output, Cause::graph_output},
    {Broken::cast, Cause::precision},
    {Broken::head, Cause::pointwise_head},
    {Broken::operand, Cause::operand},
};

}  // namespace

TEST_SUITE("engine_causes") {
  TEST_CASE("residual Adds and a pooling that are not quantized") {
    // qat_model.py there quantizes neither: eight quantizers run alone for the residuals, and one
    // after the pooling. The tenth quantizes the model's input, which is unavoidable.
    const std::vector<Cause> causes = causes_of_sample("resnet18_qat");
    std::vector<int> residual;
    for (const Cause& cause : causes) {
      CAPTURE(cause.what);
      if (cause.kind == Cause::residual)
        residual.insert(residual.end(), cause.layers.begin(), cause.layers.end());
    }
    CHECK(residual == std::vector<int>{4, 7, 10, 14, 17, 21, 24, 28});
    CHECK(sum_of(causes, Cause::residual) == doctest::Approx(0.232448 - 0.06144 - 0.007168));
    const auto pool = std::ranges::find(causes, Cause::unquantized_op, &Cause::kind);
    REQUIRE(pool != causes.end());
    CHECK(pool->place == "GlobalAveragePool_246");
    CHECK(pool->layers == std::vector<int>{33});
    CHECK(std::ranges::count(causes, Cause::unknown, &Cause::kind) == 0);
  }

  TEST_CASE("with quantized residuals only the pooling is left") {
    const std::vector<Cause> causes = causes_of_sample("resnet18_qat-residual");
    REQUIRE(causes.size() == 1);
    CHECK(causes[0].kind == Cause::unquantized_op);
    CHECK(causes[0].place == "GlobalAveragePool_294");
    CHECK(causes[0].layers.size() == 2);  // DequantizeLinear_291 and QuantizeLinear_298.
  }

  TEST_CASE("with a quantized pooling too, no cause is left") {
    CHECK(causes_of_sample("resnet18_qat-residual-qgap").empty());
  }

  TEST_CASE("an engine in one dtype has no such cause") {
    for (const char* sample : {"resnet18_fp32", "resnet18_fp16"})
      CHECK(causes_of_sample(sample).empty());
    // Here the last Softmax takes float32, and its product returns float16.
    const std::vector<Cause> causes = causes_of_sample("tf_resnet50_fp16");
    REQUIRE(causes.size() == 1);
    CHECK(causes[0].kind == Cause::precision);
    CHECK(causes[0].layers == std::vector<int>{84});
  }

  TEST_CASE("an input padded before its quantization, and a result after DQ, are no cause") {
    // tf_resnet50_qat pads the model's input, then quantizes it.
    CHECK(causes_of_sample("tf_resnet50_qat").empty());
    const std::string text =
        "[" +
        test::layer_text("Conv_0", "CaskConvolution", test::tensor_text("a", "Int8"),
                         test::tensor_text("b", "Int8")) +
        "," +
        test::layer_text("DequantizeLinear_1", "Reformat", test::tensor_text("b", "Int8"),
                         test::tensor_text("c", "Half"), R"(, "Origin": "QDQ")") +
        "," +
        test::layer_text("Softmax_2", "CudaSoftMax", test::tensor_text("c", "Half"),
                         test::tensor_text("d", "Half"));
    CHECK(causes_of(read_engine(text + "]", "end.json")).empty());
    const std::string quantized_again =
        "," +
        test::layer_text("QuantizeLinear_3", "Reformat", test::tensor_text("d", "Half"),
                         test::tensor_text("e", "Int8"), R"(, "Origin": "QDQ")") +
        "]";
    const std::vector<Cause> causes = causes_of(read_engine(text + quantized_again, "middle.json"));
    REQUIRE(causes.size() == 1);
    CHECK(causes[0].kind == Cause::unquantized_op);
    CHECK(causes[0].layers == std::vector<int>{1, 3});
  }

  TEST_CASE("residuals and a pooling of MobileNetV2, and no cause in a network of one dtype") {
    const std::vector<Cause> causes = causes_of_sample("mobilenetv2_qat");
    // Each of its ten residual Adds: torchvision's MobileNetV2 has so many.
    CHECK(std::ranges::count(causes, Cause::residual, &Cause::kind) == 10);
    CHECK(std::ranges::count(causes, Cause::unquantized_op, &Cause::kind) == 1);
    CHECK(causes.size() == 11);
    CHECK(causes_of_sample("tf_resnet50_fp32").empty());
    const std::vector<Cause> residuals = causes_of_sample("mobilenetv2_residuals");
    REQUIRE(residuals.size() == 1);  // Quantized residuals; its pooling is in 16 bits.
    CHECK(residuals[0].kind == Cause::unquantized_op);
    CHECK(residuals[0].place == "GlobalAveragePool_747");
  }

  TEST_CASE("the cost of a failed fusion, and the fused kernel's bound") {
    const Generator generated(Broken::residual, 1, 0);
    const Engine engine = generated.engine();
    const Times times = generated.times();
    const EngineSummary summary = summarize(engine, &times);
    std::vector<Cause> causes = find_causes(engine, summary, nullptr, nullptr);
    REQUIRE(causes.size() == 1);
    DeviceSpec device;
    device.memory_bytes_per_second = 1e12;
    const EngineCosts costs = cost_layers(engine, summary, device, nullptr, nullptr, nullptr);
    add_ideal_times(engine, summary, &device, &costs, causes);
    // Q of the input, the convolution with its Add, and the Q that runs alone: 10, 20, 30 us.
    CHECK(causes[0].layers == std::vector<int>{2});
    CHECK(causes[0].partners == std::vector<int>{1});
    CHECK(causes[0].group_ms.value() == doctest::Approx(0.02 + 0.03));
    // Int8 comes in and goes out, and the residual in 16 bits: 1 x 8 x 4 x 4 numbers each.
    CHECK(causes[0].ideal_ms.value() == doctest::Approx(1e3 * (8 * 4 * 4) * (1 + 1 + 2) / 1e12));
    add_ideal_times(engine, summary, nullptr, nullptr, causes);
    CHECK_FALSE(causes[0].ideal_ms.has_value());
  }

  TEST_CASE("one broken rule each, in networks of several sizes") {
    for (const BrokenRule& rule : rules)
      for (const int blocks : {1, 2, 5})
        for (int at = 0; at < blocks; ++at) {
          const Generator generated(rule.broken, blocks, at);
          const Model model = generated.model();
          const Times times = generated.times();
          const std::vector<Cause> causes = causes_of(generated.engine(), &times, &model);
          CAPTURE(static_cast<int>(rule.broken));
          CAPTURE(blocks);
          CAPTURE(at);
          REQUIRE(causes.size() == (rule.kind ? 1 : 0));
          if (!rule.kind) continue;
          CHECK(causes[0].kind == *rule.kind);
          CHECK(causes[0].measured_ms.value() == doctest::Approx(generated.cost_ms()));
        }
  }
}

}  // namespace symprof::engine
