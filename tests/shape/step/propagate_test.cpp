#include "shape/step/propagate.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <thread>

#include "base/error.h"
#include "tests/support/torch/graph_builder.h"

namespace symprof::propagate_test {
namespace {

using test::contiguous;
using test::GraphBuilder;
constexpr std::int64_t f32 = 4;

StepOptions options(Mode mode = Mode::train) { return {.mode = mode}; }

std::int64_t saved_bytes(const Recording& recording) {
  std::int64_t sum = 0;
  for (const StorageRecord& storage : recording.storages)
    if (storage.saved && storage.kind == StorageKind::activation) sum += storage.bytes;
  return sum;
}

std::int64_t count(const Recording& recording, std::string_view op, Phase phase) {
  return std::ranges::count_if(recording.calls, [&](const CallRecord& call) {
    return call.phase == phase && recording.ops[static_cast<std::size_t>(call.op)] == op;
  });
}

// Live bytes after each event; the last one is at the end of the step.
std::vector<std::int64_t> live_bytes(const Recording& recording) {
  std::vector<std::int64_t> live;
  std::int64_t now = 0;
  for (const MemoryEvent& event : recording.events) {
    const std::int64_t bytes = recording.storages[static_cast<std::size_t>(event.storage)].bytes;
    live.push_back(now += event.kind == EventKind::allocate ? bytes : -bytes);
  }
  return live;
}

}  // namespace

TEST_SUITE("propagate") {
  TEST_CASE("a linear layer saves its input and gets both gradients") {
    constexpr std::int64_t n = 8, in = 16, out = 32;
    GraphBuilder b;
    const ValueId x = b.input("x", contiguous({n, in}));
    const ValueId w1 = b.parameter("w1", contiguous({in, in}));
    const ValueId w2 = b.parameter("w2", contiguous({out, in}));
    const ValueId hidden = b.call("aten::linear", "default", {ValueRef{x}, ValueRef{w1}});
    b.graph.outputs = {b.call("aten::linear", "default", {ValueRef{hidden}, ValueRef{w2}})};
    const Recording recording = shape::propagate(b.graph, options());
    CHECK(saved_bytes(recording) == n * in * f32);  // hidden; x is an input
    CHECK(count(recording, "aten::mm", Phase::forward) == 2);
    CHECK(count(recording, "aten::mm", Phase::backward) == 3);  // x needs no gradient
    CHECK(recording.parameter_count == in * in + out * in);
    for (const CallRecord& call : recording.calls) CHECK(call.node != none);
  }

  TEST_CASE("a tensor saved twice is one storage") {
    GraphBuilder b;
    const ValueId w = b.parameter("w", contiguous({4, 4}));
    const ValueId e = b.call("aten::exp", "default", {ValueRef{w}});  // saves its result
    b.graph.outputs = {
        b.call("aten::mul", "Tensor", {ValueRef{e}, ValueRef{e}})};  // saves it twice more
    CHECK(saved_bytes(shape::propagate(b.graph, options())) == 4 * 4 * f32);
  }

  TEST_CASE("an in-place call allocates nothing and keeps its storage") {
    GraphBuilder b;
    const ValueId x = b.input("x", contiguous({8, 8}));
    const ValueId w = b.parameter("w", contiguous({8, 8}));
    const ValueId product = b.call("aten::mm", "default", {ValueRef{x}, ValueRef{w}});
    b.graph.outputs = {b.call("aten::relu_", "default", {ValueRef{product}})};
    const Recording recording = shape::propagate(b.graph, options());
    const NodeRecord& relu = recording.nodes[2];
    REQUIRE(relu.op == "aten::relu_");
    CHECK(relu.outputs[0].storage == relu.inputs[0].storage);
    CHECK(saved_bytes(recording) == 8 * 8 * f32);  // relu_ saves its result: the product's storage
  }

  TEST_CASE("dropout allocates its mask, one byte per element, before its output") {
    constexpr std::int64_t n = 8;
    GraphBuilder b;
    const ValueId w = b.parameter("w", contiguous({n, n}));
    b.graph.outputs = {b.call("aten::dropout", "default", {ValueRef{w}, 0.5, true})};
    const Recording recording = shape::propagate(b.graph, options());
    std::vector<std::int64_t> made;
    for (const MemoryEvent& event : recording.events)
      if (event.call == 0 && event.kind == EventKind::allocate)
        made.push_back(recording.storages[static_cast<std::size_t>(event.storage)].bytes);
    CHECK(count(recording, "aten::native_dropout", Phase::forward) == 1);
    CHECK(made == std::vector<std::int64_t>{n * n, n * n * f32});
  }

  TEST_CASE("a view keeps its base alive, and the base dies with it") {
    GraphBuilder b;
    const ValueId x = b.input("x", contiguous({1024, 4}));
    const ValueId big = b.call("aten::add", "Tensor", {ValueRef{x}, std::int64_t{1}});
    const ValueId row =
        b.call("aten::select", "int", {ValueRef{big}, std::int64_t{0}, std::int64_t{0}});
    const ValueId other = b.call("aten::add", "Tensor", {ValueRef{x}, std::int64_t{2}});
    const ValueId sum = b.call("aten::add", "Tensor", {ValueRef{other}, ValueRef{row}});
    b.graph.outputs = {b.call("aten::sum", "default", {ValueRef{sum}})};
    const Recording recording = shape::propagate(b.graph, options(Mode::inference));
    const std::int64_t block = 1024 * 4 * f32;
    const std::vector<std::int64_t> live = live_bytes(recording);
    // While `sum` is computed: x, big (through its row), other and sum.
    CHECK(*std::ranges::max_element(live) == 4 * block);
    CHECK(live.back() == block + f32);  // x and the output
  }

  TEST_CASE("a saved output counts as saved") {
    GraphBuilder b;
    const ValueId w = b.parameter("w", contiguous({16}));
    b.graph.outputs = {b.call("aten::sigmoid", "default", {ValueRef{w}})};
    CHECK(saved_bytes(shape::propagate(b.graph, options())) == 16 * f32);
  }

  TEST_CASE("a parameter used twice gets one gradient, accumulated in place") {
    GraphBuilder b;
    const ValueId x = b.input("x", contiguous({8, 8}));
    const ValueId w = b.parameter("w", contiguous({8, 8}));
    const ValueId first = b.call("aten::mm", "default", {ValueRef{x}, ValueRef{w}});
    b.graph.outputs = {b.call("aten::mm", "default", {ValueRef{first}, ValueRef{w}})};
    const Recording recording = shape::propagate(b.graph, options());
    const auto gradients =
        std::ranges::count(recording.storages, StorageKind::gradient, &StorageRecord::kind);
    CHECK(gradients == 1);
    CHECK(count(recording, "aten::add_", Phase::backward) == 1);
    CHECK(count(recording, "aten::add", Phase::backward) == 0);
  }

  TEST_CASE("tied parameters share one storage") {
    GraphBuilder b;
    const ValueId ids = b.input("ids", contiguous({2, 5}, DType::int64));
    const ValueId table = b.parameter("embedding.weight", contiguous({100, 8}));
    const ValueId head = b.parameter("head.weight", contiguous({100, 8}));
    for (ValueId id : {table, head})
      b.graph.values[static_cast<std::size_t>(id)].storage_key = "weight_0";
    const ValueId embedded = b.call("aten::embedding", "default", {ValueRef{table}, ValueRef{ids}});
    b.graph.outputs = {b.call("aten::linear", "default", {ValueRef{embedded}, ValueRef{head}})};
    const Recording recording = shape::propagate(b.graph, options());
    CHECK(recording.parameter_count == 100 * 8);
    CHECK(std::ranges::count(recording.storages, StorageKind::parameter, &StorageRecord::kind) ==
          1);
    CHECK(count(recording, "aten::embedding_dense_backward", Phase::backward) == 1);
  }

  TEST_CASE("empty tensors and a batch of one run") {
    for (const std::int64_t batch : {0, 1}) {
      CAPTURE(batch);
      GraphBuilder b;
      const ValueId x = b.input("x", contiguous({batch, 16}));
      const ValueId w = b.parameter("w", contiguous({4, 16}));
      b.graph.outputs = {b.call("aten::linear", "default", {ValueRef{x}, ValueRef{w}})};
      const Recording recording = shape::propagate(b.graph, options());
      const TensorRecord output = recording.nodes[1].outputs.at(0);
      CHECK(recording.specs[static_cast<std::size_t>(output.spec)].sizes ==
            std::vector<std::int64_t>{batch, 4});
    }
  }

  TEST_CASE("half precision keeps its dtype, and layer norm's statistics are float32") {
    for (const DType dtype : {DType::float16, DType::bfloat16}) {
      GraphBuilder b;
      const ValueId w = b.parameter("w", contiguous({8, 32}, dtype));
      b.graph.outputs = {
          b.call("aten::layer_norm", "default", {ValueRef{w}, std::vector<std::int64_t>{32}})};
      const Recording recording = shape::propagate(b.graph, options());
      CHECK(saved_bytes(recording) == 2 * 8 * f32);  // mean and rstd; the input is a parameter
    }
  }

  TEST_CASE("every optimizer's state and temporaries are recorded") {
    GraphBuilder b;
    const ValueId x = b.input("x", contiguous({8, 64}));
    const ValueId w = b.parameter("w", contiguous({64, 64}));
    b.graph.outputs = {b.call("aten::mm", "default", {ValueRef{x}, ValueRef{w}})};
    const std::map<Optimizer, std::int64_t> states = {{Optimizer::sgd, 0},
                                                      {Optimizer::sgd_momentum, 1},
                                                      {Optimizer::adam, 2},
                                                      {Optimizer::adamw, 2}};
    for (const auto& [optimizer, copies] : states) {
      for (const OptimizerVariant variant :
           {OptimizerVariant::single, OptimizerVariant::foreach, OptimizerVariant::fused}) {
        CAPTURE(static_cast<int>(optimizer));
        CAPTURE(static_cast<int>(variant));
        StepOptions with = options();
        with.optimizer = optimizer;
        with.optimizer_variant = variant;
        const Recording recording = shape::propagate(b.graph, with);
        std::int64_t bytes = 0;
        for (const StorageRecord& storage : recording.storages)
          if (storage.kind == StorageKind::optimizer_state) bytes += storage.bytes;
        const bool has_device_step = copies == 2 && variant == OptimizerVariant::fused;
        CHECK(bytes == copies * 64 * 64 * f32 + (has_device_step ? f32 : 0));
        CHECK(std::ranges::any_of(recording.calls,
                                  [](const CallRecord& c) { return c.phase == Phase::optimizer; }));
      }
    }
  }

  TEST_CASE("each loss starts one backward pass") {
    for (const Loss loss : {Loss::ones, Loss::sum, Loss::mean, Loss::cross_entropy, Loss::mse}) {
      CAPTURE(static_cast<int>(loss));
      GraphBuilder b;
      const ValueId x = b.input("x", contiguous({8, 16}));
      const ValueId w = b.parameter("w", contiguous({10, 16}));
      b.graph.outputs = {b.call("aten::linear", "default", {ValueRef{x}, ValueRef{w}})};
      StepOptions with = options();
      with.loss = loss;
      const Recording recording = shape::propagate(b.graph, with);
      CHECK(count(recording, "aten::mm", Phase::backward) == 1);
    }
  }

  TEST_CASE("inference makes no backward pass and saves nothing") {
    GraphBuilder b;
    const ValueId w = b.parameter("w", contiguous({16}));
    b.graph.outputs = {b.call("aten::sigmoid", "default", {ValueRef{w}})};
    const Recording recording = shape::propagate(b.graph, options(Mode::inference));
    CHECK(saved_bytes(recording) == 0);
    for (const CallRecord& call : recording.calls) CHECK(call.phase == Phase::forward);
  }

  TEST_CASE("autocast runs products in half precision and keeps one copy of each weight") {
    GraphBuilder b;
    const ValueId x = b.input("x", contiguous({8, 64}));
    const ValueId w = b.parameter("w", contiguous({64, 64}));
    const ValueId first = b.call("aten::linear", "default", {ValueRef{x}, ValueRef{w}});
    b.graph.outputs = {b.call("aten::linear", "default", {ValueRef{first}, ValueRef{w}})};
    StepOptions with = options();
    with.autocast = DType::bfloat16;
    const Recording recording = shape::propagate(b.graph, with);
    const TensorRecord output = recording.nodes[2].outputs.at(0);
    CHECK(recording.specs[static_cast<std::size_t>(output.spec)].dtype == DType::bfloat16);
    CHECK(count(recording, "aten::_to_copy", Phase::forward) == 2);  // x, and w once
  }

  TEST_CASE("errors name the node") {
    GraphBuilder b;
    const ValueId x = b.input("x", contiguous({8, 16}));
    const ValueId w = b.parameter("w", contiguous({10, 17}));
    b.graph.outputs = {b.call("aten::linear", "default", {ValueRef{x}, ValueRef{w}})};
    CHECK_THROWS_WITH_AS(shape::propagate(b.graph, options()),
                         doctest::Contains("test: node n0 (aten::linear)"), Error);

    GraphBuilder unknown;
    const ValueId y = unknown.input("y", contiguous({2}));
    unknown.graph.outputs = {unknown.call("com.acme::FusedAttention", "", {ValueRef{y}})};
    CHECK_THROWS_WITH_AS(
        shape::propagate(unknown.graph, options()),
        doctest::Contains("1 operator has no rule: com.acme::FusedAttention (node n0)"), Error);

    GraphBuilder data;
    const ValueId z = data.input("z", contiguous({1}));
    data.graph.outputs = {data.call("aten::item", "default", {ValueRef{z}})};
    CHECK_THROWS_WITH_AS(shape::propagate(data.graph, options()),
                         doctest::Contains("without storage has no value"), Error);
  }

  TEST_CASE("profiles in one process, one after the other and on many threads, are equal") {
    GraphBuilder b;
    const ValueId x = b.input("x", contiguous({8, 16}));
    ValueId hidden = x;
    for (int i = 0; i < 8; ++i) {
      const ValueId w = b.parameter("w" + std::to_string(i), contiguous({16, 16}));
      hidden =
          b.call("aten::gelu", "default",
                 {ValueRef{b.call("aten::linear", "default", {ValueRef{hidden}, ValueRef{w}})}});
    }
    b.graph.outputs = {hidden};
    const Recording first = shape::propagate(b.graph, options());
    std::vector<Recording> others(8);
    std::vector<std::jthread> threads;
    for (Recording& other : others)
      threads.emplace_back([&] { other = shape::propagate(b.graph, options()); });
    threads.clear();
    for (const Recording& other : others) {
      CHECK(other.calls.size() == first.calls.size());
      CHECK(live_bytes(other) == live_bytes(first));
      CHECK(saved_bytes(other) == saved_bytes(first));
    }
  }

  TEST_CASE("a recorded node has its graph node; inputs and the step's own nodes have none") {
    GraphBuilder b;
    const ValueId x = b.input("x", contiguous({4, 4}));
    const ValueId a = b.call("aten::sin", "default", {ValueRef{x}});
    b.graph.nodes.push_back({.name = "off", .op = "region::grad_mode"});
    const ValueId c = b.call("aten::cos", "default", {ValueRef{a}});
    b.graph.nodes.push_back({.name = "end", .op = "region::end"});
    b.graph.outputs = {b.call("aten::add", "Tensor", {ValueRef{a}, ValueRef{c}})};
    const Recording recording = shape::propagate(b.graph, options(Mode::inference));
    std::vector<std::int32_t> nodes;
    for (const NodeRecord& record : recording.nodes) {
      nodes.push_back(record.graph_node);
      if (record.graph_node != none)
        CHECK(record.name == b.graph.nodes.at(static_cast<std::size_t>(nodes.back())).name);
    }
    CHECK(nodes == std::vector<std::int32_t>{none, 0, 2, 4, none, none, none});
  }
}

}  // namespace symprof::propagate_test
