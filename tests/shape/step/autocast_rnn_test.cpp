// Recurrent layers with and without autocast, against the calls of PyTorch's CUDA build
// (truth/autocast_rnn, made by record.py).
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "shape/step/propagate.h"
#include "tests/support/source_folder.h"
#include "tests/support/torch/graph_builder.h"

namespace symprof::autocast_rnn_test {
namespace {

using symprof::test::contiguous;

/// The options of torch.nn.LSTM, GRU and RNN in the cases.
struct Module {
  std::string kind, nonlinearity;
  std::int64_t input, hidden, projection, layers;
  bool has_bias, bidirectional;

  explicit Module(const nlohmann::json& of)
      : kind(of.at("module")),
        nonlinearity(of.at("options").value("nonlinearity", "tanh")),
        input(of.at("options").at("input_size")),
        hidden(of.at("options").at("hidden_size")),
        projection(of.at("options").value("proj_size", 0)),
        layers(of.at("options").value("num_layers", 1)),
        has_bias(of.at("options").value("bias", true)),
        bidirectional(of.at("options").value("bidirectional", false)) {}

  std::int64_t gates() const { return kind == "LSTM" ? 4 : kind == "GRU" ? 3 : 1; }
  std::int64_t output() const { return projection != 0 ? projection : hidden; }
  std::int64_t directions() const { return bidirectional ? 2 : 1; }
  std::string op() const {
    if (kind == "RNN") return "aten::rnn_" + nonlinearity;
    return kind == "LSTM" ? "aten::lstm" : "aten::gru";
  }

  /// In the order of `_flat_weights`.
  std::vector<std::vector<std::int64_t>> weights() const {
    std::vector<std::vector<std::int64_t>> shapes;
    for (std::int64_t layer = 0; layer < layers; ++layer)
      for (std::int64_t direction = 0; direction < directions(); ++direction) {
        shapes.push_back({gates() * hidden, layer == 0 ? input : output() * directions()});
        shapes.push_back({gates() * hidden, output()});
        for (int bias = 0; has_bias && bias < 2; ++bias) shapes.push_back({gates() * hidden});
        if (projection != 0) shapes.push_back({projection, hidden});
      }
    return shapes;
  }
};

constexpr std::int64_t steps = 5, batch = 3;

Graph graph_of(const Module& module) {
  test::GraphBuilder b;
  const ValueId x = b.input("x", contiguous({steps, batch, module.input}));
  const auto state = [&](std::int64_t width) {
    const std::vector<std::int64_t> sizes = {module.layers * module.directions(), batch, width};
    return ValueRef{b.call("aten::zeros", "default",
                           {sizes, NoArgument{}, NoArgument{}, DeviceName{"cuda:0"}})};
  };
  std::vector<ListElement> weights;
  for (const auto& shape : module.weights())
    weights.emplace_back(
        ValueRef{b.parameter(fmt::format("w{}", weights.size()), contiguous(shape))});
  const ValueRef hidden = state(module.output());
  const bool is_lstm = module.kind == "LSTM";
  const ArgumentValue states =
      is_lstm ? ArgumentValue(std::vector<ListElement>{hidden, state(module.hidden)})
              : ArgumentValue(hidden);
  b.graph.outputs = {b.call(module.op(), "input",
                            {ValueRef{x}, states, weights, module.has_bias, module.layers, 0.0,
                             true, module.bidirectional, false})};
  return b.graph;
}

using Call = std::vector<std::string>;  // The operator and its tensors.

std::string text(const Recording& recording, const TensorRecord& tensor) {
  const TensorSpec& spec = recording.specs[static_cast<std::size_t>(tensor.spec)];
  return fmt::format("{}[{}]", name(spec.dtype), fmt::join(spec.sizes, ","));
}

/// Calls of one phase for the layer or its states that record.py also records.
std::vector<Call> calls_of(const Recording& recording, Phase phase) {
  constexpr std::size_t reserve = 3;
  const std::vector<std::string> written = {"aten::zeros", "aten::copy_", "aten::_to_copy",
                                            "aten::_cudnn_rnn", "aten::_cudnn_rnn_backward"};
  std::vector<Call> calls;
  for (const CallRecord& call : recording.calls) {
    const std::string& op = recording.ops[static_cast<std::size_t>(call.op)];
    const NodeRecord& node = recording.nodes[static_cast<std::size_t>(call.node)];
    if (call.phase != phase || node.kind != NodeKind::operation ||
        std::ranges::find(written, op) == written.end())
      continue;
    Call found = {op};
    for (std::size_t i = 0; i < call.outputs.size(); ++i)
      if (call.outputs[i].spec != none && (op != "aten::_cudnn_rnn" || i != reserve))
        found.push_back(text(recording, call.outputs[i]));
    if (op == "aten::_cudnn_rnn")
      for (const TensorRecord& input : call.inputs) found.push_back(text(recording, input));
    calls.push_back(std::move(found));
  }
  return calls;
}

std::vector<Call> calls_of(const nlohmann::json& truth) {
  std::vector<Call> calls;
  for (const auto& call : truth) {
    Call wanted = {call.at("op")};
    for (const char* key : {"outputs", "inputs"})
      for (const auto& tensor : call.value(key, nlohmann::json::array())) wanted.push_back(tensor);
    calls.push_back(std::move(wanted));
  }
  return calls;
}

}  // namespace

TEST_SUITE("autocast_rnn") {
  TEST_CASE(
      "cuDNN's layers use one buffer of all weights, and a half-precision copy under autocast") {
    const auto path =
        std::filesystem::path(test::source_folder()) / "truth/autocast_rnn/calls.json";
    std::ifstream file(path);
    const nlohmann::json records = nlohmann::json::parse(file);
    CHECK(records.size() >= 15);
    for (const auto& [name, record] : records.items()) {
      CAPTURE(name);
      StepOptions options{.mode = Mode::train};
      const auto dtype = parse_dtype(std::string(record.at("of").at("autocast")));
      if (dtype != DType::float32) options.autocast = dtype;
      options.device = load_device(
          (std::filesystem::path(test::source_folder()) / "devices/h200.json").string());
      const Recording recording = shape::propagate(graph_of(Module(record.at("of"))), options);
      CHECK(calls_of(recording, Phase::forward) == calls_of(record.at("forward")));
      CHECK(calls_of(recording, Phase::backward) == calls_of(record.at("backward")));
    }
  }

  TEST_CASE("parameters and their gradients are one block each, as for nn.LSTM on a device") {
    const Module module(nlohmann::json::parse(
        R"({"module": "LSTM", "options": {"input_size": 16, "hidden_size": 24}})"));
    const Recording recording = shape::propagate(graph_of(module), {});
    constexpr std::int64_t elements = 4 * 24 * (16 + 24 + 2), f32 = 4;
    const auto blocks_of = [&](StorageKind kind) {
      std::vector<std::int64_t> bytes;
      for (const StorageRecord& storage : recording.storages)
        if (storage.kind == kind) bytes.push_back(storage.bytes);
      return bytes;
    };
    CHECK(blocks_of(StorageKind::parameter) == std::vector{elements * f32});
    CHECK(blocks_of(StorageKind::gradient) == std::vector{elements * f32});
    CHECK(recording.parameter_count == elements);
  }
}

}  // namespace symprof::autocast_rnn_test
