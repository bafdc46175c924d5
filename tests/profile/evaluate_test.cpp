// Profiles of hand-made recordings.
#include <doctest/doctest.h>

#include "base/error.h"
#include "profile/own_rules.h"
#include "profile/profile.h"
#include "tests/support/recording_builder.h"

namespace symprof::test::evaluate_test {

using profile::operator""_MiB;

namespace {

constexpr std::int64_t M = 8, K = 16, N = 32;

/// y = relu(x·W + b) and its backward: x is an input, the product keeps x, relu keeps its result.
struct LinearRelu : RecordingBuilder {
  NodeId input = node("x", NodeKind::input);
  NodeId linear = node("linear");
  NodeId relu = node("relu");
  NodeId output = node("output", NodeKind::output);
  TensorRecord x, w, b, product, y;

  LinearRelu() {
    x = fresh(tensor({M, K}), {.kind = StorageKind::input, .node = input, .saved = true});
    w = fresh(tensor({K, N}), {.kind = StorageKind::parameter, .saved = true});
    b = fresh(tensor({N}), {.kind = StorageKind::parameter});
    product = fresh(tensor({M, N}), {.allocated_by = 0, .node = linear});
    y = fresh(tensor({M, N}), {.allocated_by = 1, .node = relu, .saved = true});
    (*this)[input].outputs = {x};
    (*this)[linear].inputs = {x, w, b};
    (*this)[linear].outputs = {product};
    (*this)[linear].parameters = {w.storage, b.storage};
    (*this)[relu].inputs = {product};
    (*this)[relu].outputs = {y};
    (*this)[relu].input_gradient_bytes = 4 * M * N;
    (*this)[output].inputs = {y};
    call_on("aten::addmm", {b, x, w}, {product}, linear);
    call_on("aten::relu", {product}, {y}, relu);
    call("aten::threshold_backward", {t({M, N}), t({M, N})}, {tensor({M, N})}, relu,
         Phase::backward);
    call("aten::mm", {t({K, M}), t({M, N})}, {tensor({K, N})}, linear, Phase::backward);
  }

  Profile evaluate() { return profile::evaluate(recording(), {}); }
};

}  // namespace

TEST_SUITE("evaluate") {
  TEST_CASE("the caller's rules take precedence over built-in ones") {
    constexpr std::int64_t n = 6;
    static constexpr profile::Rule rows[] = {
        {"acme::spin",
         [](const profile::Call& call) {
           return profile::Estimate({.other_flops = 3 * call.output(0)->numel()});
         },
         Confidence::modelled},
        {"aten::relu", [](const profile::Call&) { return profile::Estimate({.other_flops = 1}); }}};
    const profile::Family family[] = {{"acme", [] { return profile::Rules(rows); }}};
    RecordingBuilder b;
    const NodeId node = b.node("spin");
    b.call("acme::spin", {t({n})}, {tensor({n})}, node);
    b.call("aten::relu", {t({n})}, {tensor({n})}, node);
    CHECK(profile::evaluate(b.recording(), {}).coverage.unmodelled == 1);
    const Profile profile = profile::evaluate(b.recording(), {}, profile::OperatorTable(family));
    CHECK(profile.totals.fwd_flops_all == 3 * n + 1);
    CHECK(profile.nodes[0].figures.confidence == Confidence::modelled);
    CHECK(profile.coverage.unmodelled == 0);
  }

  TEST_CASE("costs belong to their node and phase, and the totals are the sums") {
    const Profile profile = LinearRelu().evaluate();
    const RowFigures &linear = profile.nodes[1].figures, &relu = profile.nodes[2].figures;
    CHECK(linear.fwd_product_flops == 2 * M * K * N);
    CHECK(linear.bwd_product_flops == 2 * M * K * N);
    CHECK(relu.fwd_other_flops == M * N);
    CHECK(relu.bwd_other_flops == M * N);
    CHECK(profile.totals.fwd_flops == 2 * M * K * N);
    CHECK(profile.totals.fwd_flops_all == 2 * M * K * N + M * N);
    CHECK(profile.totals.bwd_flops_all == 2 * M * K * N + M * N);
    CHECK(profile.nodes[1].calls.size() == 2);
    CHECK(profile.coverage.calls == 4);
    CHECK(profile.coverage.exact == 4);
  }

  TEST_CASE("saved bytes: activations, with inputs, and by row") {
    const Profile profile = LinearRelu().evaluate();
    CHECK(profile.totals.saved_bytes == 4 * M * N);
    CHECK(profile.totals.saved_bytes_with_inputs == 4 * (M * N + M * K));
    CHECK(profile.nodes[0].figures.incremental_bytes == 4 * M * K);
    CHECK(profile.nodes[1].figures.incremental_bytes == 0);
    CHECK(profile.nodes[2].figures.incremental_bytes == 4 * M * N);
    CHECK(profile.nodes[3].figures.accumulate_bytes == 4 * (M * N + M * K));
    CHECK(profile.nodes[0].figures.output_bytes == 4 * M * K);
    CHECK(profile.nodes[1].figures.temp_bytes == 4 * M * N);
    CHECK(profile.nodes[2].figures.output_bytes == 4 * M * N);
    CHECK(profile.nodes[2].figures.backward_bytes == 4 * M * N);
    CHECK(profile.nodes[1].figures.param_bytes == 4 * (K * N + N));
    CHECK(profile.totals.param_bytes == 4 * (K * N + N));
    CHECK(profile.totals.input_bytes == 4 * M * K);
  }

  TEST_CASE("an in-place node has no output; a storage saved through two views counts once") {
    LinearRelu step;
    const TensorRecord rows = step.over(step.y.storage, tensor({M * N}));
    const NodeId in_place = step.node("add_");
    step[in_place].inputs = {step.y};
    step[in_place].outputs = {step.y, rows};
    const Profile profile = step.evaluate();
    CHECK(profile.nodes[in_place].figures.output_bytes == 0);
    CHECK(profile.nodes[in_place].figures.temp_bytes == 0);
    CHECK(profile.totals.saved_bytes == 4 * M * N);
  }

  TEST_CASE("a parameter used by two nodes is in both rows and once in the total") {
    LinearRelu step;
    step[step.relu].parameters = {step.w.storage};
    const Profile profile = step.evaluate();
    CHECK(profile.nodes[2].figures.param_bytes == 4 * K * N);
    CHECK(profile.totals.param_bytes == 4 * (K * N + N));
  }

  TEST_CASE("kinds of storages have their own totals; saved host memory counts") {
    LinearRelu step;
    step.storage({.bytes = 100, .kind = StorageKind::buffer, .saved = true});
    step.storage({.bytes = 200, .kind = StorageKind::gradient});
    step.storage({.bytes = 300, .kind = StorageKind::optimizer_state});
    const std::int64_t without_host = step.evaluate().totals.peak_allocated_bytes;
    step.storage({.bytes = 400, .node = step.linear, .on_device = false, .saved = true});
    const Totals totals = step.evaluate().totals;
    CHECK(totals.buffer_bytes == 100);
    CHECK(totals.grad_bytes == 200);
    CHECK(totals.optimizer_bytes == 300);
    CHECK(totals.saved_bytes == 4 * M * N + 400);
    CHECK(totals.peak_allocated_bytes == without_host);
  }

  TEST_CASE("a call without a rule is named, counted and excluded from totals") {
    LinearRelu step;
    step.call("acme::fused", {t({M, N})}, {tensor({M, N})}, step.relu);
    step.call("acme::fused", {t({M, N})}, {tensor({M, N})}, step.relu);
    step.call("aten::mm", {t({M}), t({M})}, {tensor({})}, step.linear);
    const Profile profile = step.evaluate();
    CHECK(profile.coverage.unmodelled == 3);
    CHECK(profile.coverage.unmodelled_ops == std::vector<std::string>{"acme::fused", "aten::mm"});
    CHECK(profile.nodes[2].figures.confidence == Confidence::unmodelled);
    CHECK(profile.totals.fwd_flops_all == 2 * M * K * N + M * N);
  }

  TEST_CASE("a row is as certain as its least certain call") {
    RecordingBuilder builder;
    const NodeId view = builder.node("view"), both = builder.node("both");
    builder.call("aten::view", {t({M})}, {tensor({M})}, view);
    builder.call("aten::view", {t({M})}, {tensor({M})}, both);
    builder.call("aten::gelu", {t({M})}, {tensor({M})}, both);
    const NodeId untouched = builder.node("untouched");
    const Profile profile = profile::evaluate(builder.recording(), {});
    CHECK(profile.nodes[view].figures.confidence == Confidence::free);
    CHECK(profile.nodes[both].figures.confidence == Confidence::modelled);
    CHECK(profile.nodes[untouched].figures.confidence == Confidence::free);
    CHECK(profile.coverage.free == 2);
    CHECK(profile.coverage.modelled == 1);
  }

  TEST_CASE("the optimizer's FLOPs are in neither pass") {
    LinearRelu step;
    const NodeId optimizer = step.node("optimizer", NodeKind::optimizer);
    step.call("aten::_foreach_add_", {list({{K, N}, {N}})}, {}, optimizer, Phase::optimizer);
    const Profile profile = step.evaluate();
    CHECK(profile.nodes[optimizer].figures.optimizer_flops == K * N + N);
    CHECK(profile.totals.optimizer_flops == K * N + N);
    CHECK(profile.totals.fwd_flops_all == 2 * M * K * N + M * N);
  }

  TEST_CASE("the timeline counts blocks of 512 bytes and finds the first peak") {
    RecordingBuilder builder;
    const NodeId first = builder.node("first"), second = builder.node("second");
    const StorageId weight = builder.storage({.bytes = 1000, .kind = StorageKind::parameter});
    const StorageId x = builder.storage({.bytes = 512, .kind = StorageKind::input});
    const StorageId a = builder.storage({.bytes = 513}), b = builder.storage({.bytes = 1});
    const StorageId empty = builder.storage({.bytes = 0});
    const StorageId host = builder.storage({.bytes = 64, .on_device = false});
    const CallId make_a = builder.call("aten::relu", {}, {}, first);
    const CallId view = builder.call("aten::view", {}, {}, first);
    const CallId make_b = builder.call("aten::relu", {}, {}, second, Phase::backward);
    const CallId drop = builder.call("aten::relu", {}, {}, first, Phase::backward);
    CHECK(weight == 0);
    builder.event(EventKind::allocate, x,
                  none);  // The weight has no event: allocated from the start.
    builder.event(EventKind::allocate, a, make_a);
    builder.event(EventKind::allocate, empty, view);
    builder.event(EventKind::allocate, host, view);
    builder.event(EventKind::allocate, b, make_b);
    builder.event(EventKind::free, b, make_b);
    builder.event(EventKind::free, a, drop);
    const Profile profile = profile::evaluate(builder.recording(), {});
    CHECK(profile.totals.peak_allocated_bytes == 1024 + 512 + 1024 + 512);
    CHECK(profile.totals.peak_phase == Phase::backward);
    CHECK(profile.totals.peak_node == second);
    CHECK(profile.totals.tensor_peak.bytes == 1024 + 512 + 1024 + 512);
    CHECK(profile.totals.tensor_peak.node == second);
    CHECK(profile.totals.peak_reserved_bytes == 2_MiB);
    const std::vector<TimelinePoint>& timeline = profile.memory.timeline;
    REQUIRE(timeline.size() == 3);
    CHECK(timeline[0].call == make_a);
    CHECK(timeline[0].held.total() == 1024 + 512 + 1024);
    CHECK(timeline[0].held[MemoryCategory::parameters] == 1024);
    CHECK(timeline[0].held[MemoryCategory::temporaries] == 1024);
    CHECK(timeline[1].call == make_b);  // Frees in the call what it allocated.
    CHECK(timeline[1].held.total() == timeline[0].held.total());
    CHECK(timeline[1].highest_bytes == profile.totals.peak_allocated_bytes);
    CHECK(timeline[2].call == drop);
    CHECK(timeline[2].held.total() == 1024 + 512);
  }

  TEST_CASE("calls and storages without a node are errors") {
    LinearRelu step;
    SUBCASE("a call of no node") {
      step.call("aten::relu", {t({M})}, {tensor({M})}, none);
      CHECK_THROWS_WITH_AS(step.evaluate(), doctest::Contains("belongs to no node"), Error);
    }
    SUBCASE("a saved storage of no node") {
      step.storage({.bytes = 4, .saved = true});
      CHECK_THROWS_WITH_AS(step.evaluate(), doctest::Contains("saved bytes"), Error);
    }
    SUBCASE("a count that does not fit names its node and operator") {
      // Valid tensors, but a product of 2 * 2^70 FLOPs overflows.
      constexpr std::int64_t m = std::int64_t{1} << 20, k = std::int64_t{1} << 30;
      step.call("aten::mm", {t({m, k}), t({k, m})}, {tensor({1})}, step.linear);
      CHECK_THROWS_WITH_AS(step.evaluate(), doctest::Contains("node linear (aten::mm)"), Error);
    }
  }

  TEST_CASE("an empty recording is a profile of zeros") {
    const Profile profile = profile::evaluate({}, {});
    CHECK(profile.nodes.empty());
    CHECK(profile.totals.peak_allocated_bytes == 0);
    CHECK(profile.memory.timeline.empty());
  }
}

}  // namespace symprof::test::evaluate_test
