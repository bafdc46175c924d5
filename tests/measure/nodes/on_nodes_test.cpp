// Attribution of a run's operators to a model's nodes, on hand-made models and runs.
#include "measure/nodes/on_nodes.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "base/error.h"
#include "measure/kineto/kineto.h"
#include "measure/nodes/align.h"
#include "tests/support/recording_builder.h"

namespace symprof::measure::test::on_nodes_test {
namespace {

using symprof::test::RecordingBuilder;
using symprof::test::t;
using symprof::test::tensor;

/// linear, relu, linear, and an update: nodes 0 to 3.
Recording small_model() {
  RecordingBuilder b;
  const auto linear = [&](const char* name, std::int64_t in, std::int64_t out) {
    const NodeId node = b.node(name);
    b[node].op = "aten::linear";
    b[node].inputs = {b.fresh(tensor({8, in})), b.fresh(tensor({out, in}))};
    b.call("aten::addmm", {t({out}), t({8, in}), t({in, out})}, {tensor({8, out})}, node);
  };
  linear("first", 16, 32);
  const NodeId relu = b.node("relu");
  b[relu].op = "aten::relu";
  b[relu].inputs = {b.fresh(tensor({8, 32}))};
  b.call("aten::relu", {t({8, 32})}, {tensor({8, 32})}, relu);
  linear("second", 32, 4);
  b.call("aten::add_", {t({4})}, {tensor({4})}, b.node("optimizer", NodeKind::optimizer),
         Phase::optimizer);
  return b.recording();
}

/// A run as text: each host operator launches one kernel with the given microseconds.
class Run {
 public:
  /// An operator with a kernel of `us`; 0: no kernel.
  Run& op(const std::string& name, int us, const std::string& arguments = "", int thread = 1) {
    event("cpu_op", name, thread, now_, 10, arguments);
    if (us > 0) {
      event("cuda_runtime", "cudaLaunchKernel", thread, now_ + 2, 1, correlation());
      event("kernel", "k", 7, device_, us, correlation());
      device_ += us, ++id_;
    }
    now_ += 20;
    return *this;
  }
  /// A range around the next `count` operators.
  Run& around(const std::string& category, const std::string& name, int count,
              const std::string& arguments = "", int thread = 1) {
    event(category, name, thread, now_ - 1, 20 * count - 1, arguments);
    return *this;
  }
  Trace trace() const { return parse_kineto(R"({"traceEvents": [)" + text_ + "]}", "run.json"); }

 private:
  std::string correlation() const { return fmt::format(R"("correlation": {})", id_); }
  void event(const std::string& category, const std::string& name, int thread, int ts, int dur,
             const std::string& arguments) {
    text_ += fmt::format(
        R"({}{{"ph": "X", "cat": "{}", "name": "{}", "pid": 1, "tid": {}, "ts": {}, "dur": {}, "args": {{{}}}}})",
        text_.empty() ? "" : ", ", category, name, thread, ts, dur, arguments);
  }
  std::string text_;
  int now_ = 100, device_ = 100000, id_ = 1;
};

std::string made(int sequence, const std::string& sizes) {
  return fmt::format(R"("Sequence number": {}, "Fwd thread id": 0, "Input Dims": {})", sequence,
                     sizes);
}

std::string of(int sequence) {
  return fmt::format(R"("Sequence number": {}, "Fwd thread id": 1)", sequence);
}

constexpr std::int64_t us = 1000;

/// Adds a forward pass, a backward pass in reverse with a sum of gradients and a parameter's
/// gradient, and an update. Autograd's numbers begin with `first`.
void add_step(Run& run, int scale, int first) {
  run.op("aten::copy_", 1 * scale)
      .op("aten::linear", 2 * scale, made(first, "[[64, 16], [32, 16], [32]]"))
      .op("aten::relu_", 3 * scale, made(first + 1, "[[64, 32]]"))
      .op("aten::linear", 4 * scale, made(first + 2, "[[64, 32], [4, 32], [4]]"));
  run.around("cpu_op", "AddmmBackward0", 1, of(first + 2), 2).op("aten::mm", 5 * scale, "", 2);
  run.around("cpu_op", "torch::autograd::AccumulateGrad", 1, "", 2)
      .op("aten::add_", 6 * scale, "", 2);
  run.around("cpu_op", "ReluBackward0", 1, of(first + 1), 2)
      .op("aten::threshold_backward", 7 * scale, "", 2);
  run.around("cpu_op", "AddmmBackward0", 1, of(first), 2).op("aten::mm", 8 * scale, "", 2);
  run.around("user_annotation", "Optimizer.step#SGD.step", 1).op("aten::add_", 9 * scale);
}

Run training_step(int scale) {
  Run run;
  run.around("user_annotation", "ProfilerStep#1", 12);
  add_step(run, scale, 10);
  return run;
}

}  // namespace

TEST_SUITE_BEGIN("measured_nodes");

TEST_CASE("each kernel belongs to its node and pass, even with another batch") {
  const Measurement found = on_nodes(small_model(), training_step(1).trace());
  REQUIRE(found.nodes.size() == 4);
  CHECK(found.nodes[0].forward_ns == 2 * us);
  CHECK(found.nodes[1].forward_ns == 3 * us);
  CHECK(found.nodes[2].forward_ns == 4 * us);
  CHECK(found.nodes[2].backward_ns == (5 + 6) * us);  // Including its parameter's gradient.
  CHECK(found.nodes[1].backward_ns == 7 * us);
  CHECK(found.nodes[0].backward_ns == 8 * us);
  CHECK(found.nodes[3].optimizer_ns == 9 * us);
  REQUIRE(found.unattributed.size() == 1);
  CHECK(found.unattributed[0].name == "aten::copy_");
  CHECK(found.unattributed[0].times.forward_ns == 1 * us);
  CHECK(found.total.total_ns() == (1 + 2 + 3 + 4 + 5 + 6 + 7 + 8 + 9) * us);
  CHECK(found.attributed_ns() + found.unattributed[0].times.total_ns() == found.total.total_ns());
  CHECK(found.busy_ns == found.total.total_ns());  // One stream.
}

TEST_CASE("without the profiler's marks, updates tell the steps, and times are their means") {
  Run run;
  for (const int scale : {1, 2, 3}) add_step(run, scale, 10 * scale);
  const Measurement found = on_nodes(small_model(), run.trace());
  CHECK(found.steps == 3);
  constexpr int mean = 2;
  CHECK(found.nodes[0].forward_ns == mean * 2 * us);
  CHECK(found.nodes[2].backward_ns == mean * (5 + 6) * us);
  CHECK(found.nodes[3].optimizer_ns == mean * 9 * us);
  CHECK(found.total.total_ns() == mean * (1 + 2 + 3 + 4 + 5 + 6 + 7 + 8 + 9) * us);
}

TEST_CASE("what ran after the last update is in no step") {
  Run run;
  for (const int scale : {1, 1}) add_step(run, scale, 10);
  run.op("aten::linear", 100, made(50, "[[64, 16], [32, 16], [32]]"));
  const Measurement found = on_nodes(small_model(), run.trace());
  CHECK(found.steps == 2);
  CHECK(found.nodes[0].forward_ns == 2 * us);
}

TEST_CASE("an update without an optimizer in the model belongs to no node") {
  Recording recording = small_model();
  std::erase_if(recording.calls,
                [](const CallRecord& call) { return call.phase == Phase::optimizer; });
  const Measurement found = on_nodes(recording, training_step(1).trace());
  REQUIRE(found.unattributed.size() == 2);
  CHECK(found.unattributed[0].times.optimizer_ns == 9 * us);
  CHECK(found.unattributed[0].why == "the profiled step has no optimizer");
}

TEST_CASE("a CPU trace: self times of operators") {
  const Trace trace = parse_kineto(
      R"({"traceEvents": [
        {"ph": "X", "cat": "cpu_op", "name": "aten::linear", "pid": 1, "tid": 1, "ts": 0, "dur": 50,
         "args": {"Input Dims": [[8, 16], [32, 16]]}},
        {"ph": "X", "cat": "cpu_op", "name": "aten::addmm", "pid": 1, "tid": 1, "ts": 10, "dur": 30},
        {"ph": "X", "cat": "cpu_op", "name": "aten::relu", "pid": 1, "tid": 1, "ts": 60, "dur": 5},
        {"ph": "X", "cat": "cpu_op", "name": "aten::sort", "pid": 1, "tid": 1, "ts": 70, "dur": 2}]})",
      "run.json");
  const Measurement found = on_nodes(small_model(), trace);
  CHECK(found.clock == Measurement::Clock::host);
  CHECK(found.nodes[0].forward_ns == 50 * us);
  CHECK(found.nodes[1].forward_ns == 5 * us);
  CHECK(found.unattributed.at(0).name == "aten::sort");
  CHECK(found.total.total_ns() == 57 * us);
}

TEST_CASE("a trace in which nothing took time is refused") {
  CHECK_THROWS_AS(on_nodes(small_model(), parse_kineto(R"({"traceEvents": []})", "a.json")), Error);
}

TEST_CASE("device work without a call is reported with its reason") {
  const Trace trace = parse_kineto(
      R"({"traceEvents": [{"ph": "X", "cat": "kernel", "name": "k", "ts": 1, "dur": 2}]})",
      "run.json");
  const Measurement found = on_nodes(small_model(), trace);
  REQUIRE(found.unattributed.size() == 1);
  CHECK(found.unattributed[0].name == "k");
  CHECK(found.unattributed[0].why == "the record has no correlation id");
  CHECK(found.attributed_ns() == 0);
}

TEST_CASE("implementations of one operator have one family") {
  using nodes::family_of;
  for (const char* op : {"aten::batch_norm", "aten::cudnn_batch_norm", "aten::native_batch_norm"})
    CHECK(family_of(op) == "batch_norm");
  CHECK(family_of("aten::relu_") == family_of("aten::relu"));
  CHECK(family_of("aten::conv2d") == family_of("aten::cudnn_convolution"));
  CHECK(family_of("aten::_scaled_dot_product_flash_attention") ==
        family_of("aten::scaled_dot_product_attention"));
  CHECK(family_of("aten::add") != family_of("aten::addmm"));
}

TEST_CASE("equal names are matched by shapes, equal shapes by order") {
  const auto step = [](const char* name, std::vector<std::vector<std::int64_t>> sizes) {
    return nodes::Step{name, {nodes::family_of(name)}, std::move(sizes)};
  };
  const std::vector<nodes::Step> model = {step("aten::mm", {{8, 4}, {4, 2}}),
                                          step("aten::mm", {{8, 2}, {2, 9}}),
                                          step("aten::exp", {{8, 9}})};
  // The run's first operator is not in the model.
  CHECK(nodes::align(model, {step("aten::mm", {{7, 7}, {7, 7}}), step("aten::mm", {{3, 4}, {4, 2}}),
                             step("aten::mm", {{3, 2}, {2, 9}}), step("aten::exp", {{3, 9}})}) ==
        std::vector<std::int32_t>{-1, 0, 1, 2});
  CHECK(nodes::align(model, {step("aten::exp", {}), step("aten::mm", {})}) ==
        std::vector<std::int32_t>{-1, 0});
  CHECK(nodes::align({}, {step("aten::exp", {})}) == std::vector<std::int32_t>{-1});
}

TEST_SUITE_END();

}  // namespace symprof::measure::test::on_nodes_test
