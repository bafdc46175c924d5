// Common mistakes of memory estimates, each with the right formula. PyTorch's figures for the same
// files are in truth/, and the suite `truth` compares every figure with them.
#include <doctest/doctest.h>

#include <algorithm>

#include "shape/step/propagate.h"
#include "tests/support/torch/exported_profile.h"
#include "tests/support/torch/graph_builder.h"

namespace symprof::memory_traps_test {
namespace {

using test::product;

// As in models/tiny_models.py.
constexpr std::int64_t rows = 64, width = 32, f32 = 4, bf16 = 2;
constexpr std::int64_t activation = rows * width * f32;

// Saved bytes made by nodes of an operator, in order.
std::vector<std::int64_t> saved_by(const Profile& profile, std::string_view op) {
  std::vector<std::int64_t> bytes;
  for (const NodeProfile& node : profile.nodes)
    if (profile.recording.nodes[static_cast<std::size_t>(node.node)].op == op)
      bytes.push_back(node.figures.incremental_bytes);
  return bytes;
}

std::vector<std::int64_t> gradients(const Profile& profile) {
  std::vector<std::int64_t> bytes;
  for (const StorageRecord& storage : profile.recording.storages)
    if (storage.kind == StorageKind::gradient) bytes.push_back(storage.bytes);
  std::ranges::sort(bytes);
  return bytes;
}

}  // namespace

TEST_SUITE("memory_traps") {
  TEST_CASE("a layer used five times saves five inputs and has one gradient") {
    const Profile profile = test::profile_of("reused_layer.pt2");
    constexpr std::int64_t uses = 5, parameters = (width * width + width) * f32;
    // The first use saves the graph's input; tanh's output is the next use's input.
    CHECK(saved_by(profile, "aten::tanh") == std::vector<std::int64_t>(uses, activation));
    CHECK(profile.totals.saved_bytes == uses * activation);
    CHECK(profile.totals.fwd_flops == uses * product(rows, width, width));
    CHECK(profile.totals.param_bytes == parameters);
    CHECK(profile.totals.grad_bytes == parameters);
    CHECK(gradients(profile) == std::vector<std::int64_t>{width * f32, width * width * f32});
  }

  TEST_CASE("a tied embedding is one parameter, one gradient and one state") {
    // The weight of the packed projection has as many elements as the table.
    constexpr std::int64_t words = 96, table = words * width * f32, norm = width * f32;
    const Profile profile = test::profile_of("tied_lm.pt2", {}, {.optimizer = Optimizer::adamw});
    CHECK(std::ranges::count(profile.nodes, table, [](const NodeProfile& node) {
            return node.figures.param_bytes;
          }) == 2);  // The look-up and the head.
    CHECK(gradients(profile) == std::vector{norm, norm, words * f32, table, table});
    CHECK(profile.totals.grad_bytes == profile.totals.param_bytes);
    const auto states =
        std::ranges::count_if(profile.recording.storages, [](const StorageRecord& storage) {
          return storage.kind == StorageKind::optimizer_state && storage.bytes == table;
        });
    CHECK(states == 2 * 2);  // Both moments of both parameters.
  }

  TEST_CASE("evaluation saves the same as training, except for dropout's mask") {
    constexpr std::int64_t batch = 8, hidden = 256, one_byte = 1;
    const Profile train = test::profile_of("mlp.pt2");
    const Profile eval = test::profile_of("mlp.pt2", {}, {.mode = Mode::eval});
    CHECK(eval.totals.saved_bytes == 2 * batch * hidden * f32);  // Before and after GELU.
    CHECK(train.totals.saved_bytes - eval.totals.saved_bytes == batch * hidden * one_byte);
  }

  TEST_CASE("a buffer overwritten by each step exists once") {
    const Profile profile = test::profile_of("reused_buffer.pt2");
    CHECK(profile.totals.buffer_bytes == activation);
    CHECK(profile.memory.at_peak[MemoryCategory::buffers] == activation);
    // In-place calls allocate nothing: two results of relu_, and the sum between them.
    CHECK(profile.totals.saved_bytes == 3 * activation);
  }

  TEST_CASE("a saved row keeps the whole base tensor alive") {
    constexpr std::int64_t wide = 512, base = rows * wide * f32, row = wide * f32;
    const Profile profile = test::profile_of("kept_base.pt2");
    CHECK(saved_by(profile, "aten::linear").front() == base);
    CHECK(profile.totals.saved_bytes == base + row + row);  // Plus the results of sigmoid and mul.
  }

  TEST_CASE("bf16 gradients are stored in the dtype of their parameters") {
    const Profile profile = test::profile_of("mixed_dtypes.pt2");
    constexpr std::int64_t weight = width * width * f32, bias = width * f32;
    CHECK(gradients(profile) == std::vector<std::int64_t>{bias, bias, weight, weight});
    CHECK(profile.totals.grad_bytes == profile.totals.param_bytes);
    // Saved: the bf16 input, three results of tanh, and the casts of the two weights whose layer's
    // input needs a gradient.
    CHECK(profile.totals.saved_bytes == 4 * rows * width * bf16 + 2 * (width * width) * bf16);
  }

  TEST_CASE("saved tensors are released with an unused graph") {
    test::GraphBuilder b;
    const TensorSpec spec = test::contiguous({rows, width});
    const ValueId x = b.parameter("x", spec);
    const ValueId exp = b.call("aten::exp", "default", {ValueRef{x}});  // Saves its result.
    const ValueId cut = b.call("aten::detach", "default", {ValueRef{exp}});
    const ValueId mean = b.call("aten::mean", "default", {ValueRef{cut}});
    b.graph.outputs = {b.call("aten::add", "Tensor", {ValueRef{x}, ValueRef{mean}})};
    const Recording recording = shape::propagate(b.graph, {});
    const auto is_exp = [&](const CallRecord& call) {
      return recording.ops[static_cast<std::size_t>(call.op)] == "aten::exp";
    };
    const auto call = std::ranges::find_if(recording.calls, is_exp);
    REQUIRE(call != recording.calls.end());
    const auto freed = std::ranges::find_if(recording.events, [&](const MemoryEvent& event) {
      return event.kind == EventKind::free && event.storage == call->outputs[0].storage;
    });
    REQUIRE(freed != recording.events.end());
    CHECK(recording.calls[static_cast<std::size_t>(freed->call)].phase == Phase::forward);
  }
}

}  // namespace symprof::memory_traps_test
