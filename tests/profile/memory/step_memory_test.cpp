#include "profile/memory/step_memory.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <tuple>
#include <vector>

#include "profile/operators/operators.h"
#include "tests/support/training_step.h"

namespace symprof::test::step_memory_test {
namespace {

using profile::AllocatorAction;
using profile::AllocatorEvent;
using profile::Scratch;
using profile::simulate_step_memory;
using profile::StepMemoryOptions;
using profile::operator""_MiB;

Scratch of(const std::string& op, const std::vector<TestArgument>& arguments) {
  RecordingBuilder builder;
  const CallId id = builder.call(op, arguments, {}, builder.node("node"));
  const auto rule = profile::find_operator(op).scratch;
  REQUIRE_MESSAGE(static_cast<bool>(rule), op);
  return rule(profile::Call(builder.recording(), builder.recording().calls[id]),
              {.multiprocessors = 132});
}

}  // namespace

TEST_SUITE("step_memory") {
  TEST_CASE(
      "a loop holds the next batch besides the last, and old outputs through the forward pass") {
    TrainingStep step;
    const StepMemory first = simulate_step_memory(step.recording(), {}, {.steps = 1});
    // Blocks of the large pool: the allocator splits a 20 MiB segment, so nothing is rounded.
    CHECK(first.peak_allocated_bytes ==
          2 * weight_bytes + input_bytes + output_bytes + weight_bytes);
    CHECK(step.recording().calls[first.peak_call].phase == Phase::optimizer);
    CHECK(first.at_peak[MemoryCategory::optimizer] == weight_bytes);
    CHECK(first.at_peak[MemoryCategory::activations] == output_bytes);

    const StepMemory loop = simulate_step_memory(step.recording(), {}, {.steps = 2});
    // In the second forward: parameter, state, one batch and two outputs, no gradient. The update
    // of either step needs more.
    CHECK(loop.peak_allocated_bytes == first.peak_allocated_bytes);
    CHECK(loop.timeline.size() == 2);  // The update allocates nothing: the state exists.
    CHECK(loop.timeline[0].held[MemoryCategory::activations] == 2 * output_bytes);
    CHECK(loop.timeline[0].held[MemoryCategory::gradients] == 0);
    CHECK(loop.timeline[1].held[MemoryCategory::activations] == output_bytes);
    CHECK(loop.timeline[1].held[MemoryCategory::gradients] == weight_bytes);
  }

  TEST_CASE("by default, the first step after the second that raises no peak is the last") {
    TrainingStep step;
    const CallId forward = 0;
    const auto outputs_made = [&](StepMemoryOptions options) {
      int made = 0;
      options.observer = [&](const AllocatorEvent& event, CallId call) {
        if (call == forward && event.action == AllocatorAction::alloc) ++made;
      };
      const StepMemory memory = simulate_step_memory(step.recording(), {}, options);
      CHECK(memory.timeline.size() == 2);  // Points of the last step only.
      return made;
    };
    CHECK(outputs_made({.steps = 2}) == 2);
    CHECK(outputs_made({.steps = 5}) == 5);
    CHECK(outputs_made({}) == 3);
  }

  TEST_CASE("optimizer state is allocated by the first update") {
    TrainingStep step;
    std::int64_t state_during_forward = -1;
    const StepMemoryOptions options{.steps = 1,
                                    .observer = [&](const AllocatorEvent& event, CallId call) {
                                      if (call == 2 && event.action == AllocatorAction::alloc)
                                        state_during_forward = event.bytes;
                                    }};
    simulate_step_memory(step.recording(), {}, options);
    CHECK(state_during_forward == weight_bytes);
  }

  TEST_CASE("later micro-batches accumulate into the first one's gradients") {
    TrainingStep step;
    const CallId backward = 1;
    std::int64_t updates = 0, gradients = 0;
    const auto count = [&](const AllocatorEvent& event, CallId call) {
      if (event.action != AllocatorAction::alloc) return;
      if (call == backward) ++gradients;
      if (call > backward) ++updates;
    };
    const StepMemory memory = simulate_step_memory(
        step.recording(), {}, {.loop = {.micro_batches = 3}, .steps = 1, .observer = count});
    CHECK(gradients == 3);
    CHECK(updates == 1);  // The state, once.
    // Parameter, gradient, the one that is added, one batch and one output; no state yet.
    const StepMemory without_update = simulate_step_memory(
        [&] {
          Recording recording = step.recording();
          recording.calls.pop_back();
          return recording;
        }(),
        {}, {.loop = {.micro_batches = 2}, .steps = 1});
    CHECK(without_update.peak_allocated_bytes == 3 * weight_bytes + input_bytes + output_bytes);
    CHECK(memory.peak_allocated_bytes == without_update.peak_allocated_bytes);
  }

  TEST_CASE("kept gradients live through the forward pass, and new ones are allocated besides") {
    constexpr std::int64_t big = 8 * weight_bytes;  // The peak is in the forward pass.
    TrainingStep step;
    step.recording().storages[static_cast<std::size_t>(step.output)].bytes = big;
    const auto run = [&](bool keep_gradients, int steps) {
      return simulate_step_memory(step.recording(), {},
                                  {.loop = {.keep_gradients = keep_gradients}, .steps = steps});
    };
    CHECK(run(true, 1).peak_allocated_bytes == run(false, 1).peak_allocated_bytes);
    // Parameter, state, the batch, old outputs and new ones; from the second step on gradients,
    // too.
    CHECK(run(false, 3).peak_allocated_bytes == 2 * weight_bytes + input_bytes + 2 * big);
    CHECK(run(true, 3).peak_allocated_bytes == 3 * weight_bytes + input_bytes + 2 * big);
    CHECK(run(true, 3).at_peak[MemoryCategory::gradients] == weight_bytes);

    // With small outputs the peak is in backward: the kept gradient, and the new one.
    step.recording().storages[static_cast<std::size_t>(step.output)].bytes = output_bytes;
    const StepMemory kept = run(true, 3);
    CHECK(kept.peak_allocated_bytes == 4 * weight_bytes + input_bytes + output_bytes);
    CHECK(step.recording().calls[static_cast<std::size_t>(kept.peak_call)].phase ==
          Phase::backward);
    CHECK(kept.timeline.back().held[MemoryCategory::gradients] == weight_bytes);
  }

  TEST_CASE("repeated micro-batches are skipped without changing results") {
    TrainingStep step;
    const auto peaks = [](const StepMemory& memory) {
      return std::tuple(memory.peak_allocated_bytes, memory.peak_reserved_bytes,
                        memory.timeline.size(), memory.timeline.back().held.total());
    };
    const auto run = [&](int micro_batches, decltype(StepMemoryOptions::observer) observer) {
      StepMemoryOptions options;
      options.loop.micro_batches = micro_batches;
      options.observer = observer;
      return peaks(simulate_step_memory(step.recording(), {}, options));
    };
    std::int64_t events = 0;
    const auto every_event = [&](const AllocatorEvent&, CallId) { ++events; };
    for (const int micro_batches : {2, 3, 4, 5, 6, 7, 64})
      CHECK(run(micro_batches, {}) == run(micro_batches, every_event));
    CHECK(events > 2 * 64);  // Observers get all of them.
    CHECK(run(std::numeric_limits<int>::max(), {}) == run(64, {}));
  }

  TEST_CASE("a device that is too small fails a call; the peaks are those until then") {
    TrainingStep step;
    const StepMemory memory =
        simulate_step_memory(step.recording(), {}, {.device_bytes = 24_MiB, .steps = 2});
    CHECK_FALSE(memory.refused_call);
    // Small blocks have a segment of 2 MiB, large ones share 20 MiB.
    const StepMemory refused =
        simulate_step_memory(step.recording(), {}, {.device_bytes = 21_MiB, .steps = 2});
    REQUIRE(refused.refused_call);
    CHECK(*refused.refused_call == none);  // The batch, before any call.
    CHECK(refused.peak_reserved_bytes == 20_MiB);
  }

  TEST_CASE("large blocks fit into memory reserved before the model") {
    TrainingStep step;
    const StepMemory plain = simulate_step_memory(step.recording(), {});
    CHECK(plain.peak_reserved_bytes == 20_MiB + plain.small_segments_bytes);
    CHECK(plain.small_segments_bytes == 2_MiB);  // The batches.
    for (const std::int64_t bytes : {10_MiB, 16_MiB, 40_MiB}) {
      CAPTURE(bytes);
      StepMemoryOptions options;
      options.loop.allocator.up_front_bytes = {bytes};
      const StepMemory found = simulate_step_memory(step.recording(), {}, options);
      CHECK(found.peak_allocated_bytes == plain.peak_allocated_bytes);
      CHECK(found.small_segments_bytes == plain.small_segments_bytes);
      const std::int64_t more = bytes == 10_MiB ? 20_MiB : 0;  // For the optimizer's state.
      CHECK(found.peak_reserved_bytes == bytes + more + found.small_segments_bytes);
      options.device_bytes = bytes - 1;
      CHECK(simulate_step_memory(step.recording(), {}, options).refused_call);
    }
  }

  TEST_CASE("each thread with matrix products has one cuBLAS workspace") {
    constexpr std::int64_t workspace = 32_MiB;
    TrainingStep step;
    const std::vector<TestArgument> matrices = {t({8, 8}), t({8, 8})};
    for (const Phase phase : {Phase::forward, Phase::forward, Phase::backward, Phase::backward})
      step.call("aten::mm", matrices, {}, step.layer, phase);
    const DeviceSpec device{.cublas_workspace_bytes = workspace};
    const StepMemory memory = simulate_step_memory(step.recording(), device);
    CHECK(memory.timeline.back().held[MemoryCategory::workspace] == 2 * workspace);
    CHECK(of("aten::mm", {t({0, 8}), t({8, 8})}).uses_cublas == false);
  }

  TEST_CASE("up to PyTorch 2.11 each thread that adds a bias has a cuBLASLt workspace") {
    TrainingStep step;
    const std::vector<TestArgument> with_bias = {t({8}), t({4, 8}), t({8, 8})};
    step.call("aten::mm", {t({4, 8}), t({8, 8})}, {}, step.layer, Phase::forward);
    for (const Phase phase : {Phase::forward, Phase::forward, Phase::recompute})
      step.call("aten::addmm", with_bias, {}, step.layer, phase);
    const DeviceSpec device{.cublas_workspace_bytes = 32_MiB};
    const auto workspaces_of = [&](const char* version) {
      profile::StepMemoryOptions options;
      options.loop.allocator = profile::parse_allocator_settings(version);
      return simulate_step_memory(step.recording(), device, options)
          .timeline.back()
          .held[MemoryCategory::workspace];
    };
    CHECK(workspaces_of("torch:2.13") == 2 * 32_MiB);
    CHECK(workspaces_of("torch:2.12") == 2 * 32_MiB);
    CHECK(workspaces_of("torch:2.11") == 2 * (32_MiB + 1_MiB));
    CHECK(of("aten::addmm", with_bias).uses_cublaslt);
    CHECK(!of("aten::addmm", {t({4, 8}), t({4, 8}), t({8, 8})}).uses_cublaslt);
    CHECK(!of("aten::addmm", {t({1}), t({4, 8}), t({8, 1})}).uses_cublaslt);
    CHECK(!of("aten::mm", {t({4, 8}), t({8, 8})}).uses_cublaslt);
  }

  TEST_CASE("recurrent layers share a dropout state, reallocated when the generator is set") {
    TrainingStep step;
    const auto layer = [&](bool has_dropout, Phase phase) {
      const TestArgument state = t({0}, DType::uint8);
      step.call(
          "aten::_cudnn_rnn",
          {t({6, 3, 256}), list({{1024, 256}, {1024, 256}}), ints({2}), nothing(), t({1, 3, 256}),
           t({1, 3, 256}), ints({2}), ints({256}), ints({0}), ints({1}), ints({0}), nothing(),
           ints({1}), ints({0}), ints({}), has_dropout ? state : nothing()},
          {tensor({6, 3, 256})}, step.layer, phase);
    };
    for (const bool has_dropout : {false, true, true}) layer(has_dropout, Phase::forward);
    for (int i = 0; i < 2; ++i) layer(/*has_dropout=*/true, Phase::recompute);
    const DeviceSpec device{.multiprocessors = 132, .cudnn_copies_operands = true};
    constexpr std::int64_t state_bytes = std::int64_t{132} * 1024 * 48;
    std::vector<CallId> made;
    const auto note = [&](const AllocatorEvent& event, CallId call) {
      if (event.action == AllocatorAction::alloc && event.bytes == state_bytes)
        made.push_back(call);
    };
    const StepMemory memory =
        simulate_step_memory(step.recording(), device, {.steps = 2, .observer = note});
    const CallId first = 3, second = first + 1, recomputed = second + 2;  // After the step's own.
    CHECK(made == std::vector<CallId>{second, recomputed, second, recomputed});
    CHECK(memory.timeline.back().held[MemoryCategory::workspace] == state_bytes);
  }

  TEST_CASE("cuDNN's benchmark tries plans in the first step, once for each shape") {
    TrainingStep step;
    const auto convolve = [&](std::int64_t images) {
      const CallId call =
          step.call("aten::convolution",
                    {t({images, 64, 56, 56}), t({128, 64, 3, 3}), nothing(), ints({1, 1}),
                     ints({1, 1}), ints({1, 1}), ints({0}), ints({0, 0}), ints({1})},
                    {tensor({images, 128, 56, 56})}, step.layer, Phase::forward);
      step.event(EventKind::allocate, step.recording().calls[call].outputs[0].storage, call);
    };
    for (const std::int64_t images : {4, 4, 8}) convolve(images);
    const DeviceSpec device{.multiprocessors = 132, .cudnn_copies_operands = true};
    const auto trial_of = [](std::int64_t images) {
      const std::int64_t plane = 64 * 33 * 8, weight_bytes = 128 * 64 * 9 * 4;
      return 2 * plane * std::max(images * 128, images * 64 + 64 * 128) + weight_bytes;
    };
    std::vector<CallId> tried;
    const auto note = [&](const AllocatorEvent& event, CallId call) {
      if (event.action == AllocatorAction::alloc &&
          (event.bytes == trial_of(4) || event.bytes == trial_of(8)))
        tried.push_back(call);
    };
    StepMemoryOptions options{.steps = 2, .observer = note};
    const std::int64_t without =
        simulate_step_memory(step.recording(), device, options).peak_reserved_bytes;
    CHECK(tried.empty());
    options.loop.cudnn_benchmark = true;
    const StepMemory memory = simulate_step_memory(step.recording(), device, options);
    const CallId first = 3;  // After the step's own.
    CHECK(tried == std::vector<CallId>{first, first + 2});
    CHECK(memory.peak_allocated_bytes > trial_of(8));
    CHECK(memory.peak_reserved_bytes > without);
    CHECK(memory.reserved_bytes < trial_of(8));  // The cache was emptied after each trial.
    // A device with memory for the step but for no trial.
    options.device_bytes = without;
    CHECK(!simulate_step_memory(step.recording(), device, options).refused_call);
  }

  TEST_CASE("flash attention's backward: row sums and fp32 gradients of the query") {
    constexpr std::int64_t b = 2, h = 8, g = 2, s = 300, d = 80, f16 = 2, f32 = 4;
    constexpr std::int64_t s128 = 384, d32 = 96;  // 300 and 80, rounded up to kernels' sizes.
    // The layout that transposing [b, s, h, d] gives.
    const auto heads = [](std::int64_t count) {
      TestArgument argument = t({b, count, s, d}, DType::bfloat16);
      argument.tensors[0].strides = {s * count * d, d, count * d, 1};
      return argument;
    };
    const TestArgument lse = t({b, h, s});
    const Scratch whole = of("aten::_scaled_dot_product_flash_attention_backward",
                             {heads(h), heads(h), heads(h), heads(h), heads(h), lse});
    CHECK(whole.blocks == Sizes{b * h * s128 * f32, b * s128 * h * d32 * f32});
    const Scratch grouped = of("aten::_scaled_dot_product_flash_attention_backward",
                               {heads(h), heads(h), heads(g), heads(g), heads(h), lse});
    CHECK(grouped.blocks == Sizes{b * h * s128 * f32, b * s128 * h * d32 * f32, b * h * s * d * f16,
                                  b * h * s * d * f16});
    // A gradient in another layout is copied first.
    const Scratch copied =
        of("aten::_scaled_dot_product_flash_attention_backward",
           {t({b, h, s, d}, DType::bfloat16), heads(h), heads(h), heads(h), heads(h), lse});
    CHECK(copied.blocks.front() == b * h * s * d * f16);
  }

  TEST_CASE("flash attention's forward splits long keys of few queries over the device") {
    const auto call = [](std::int64_t batch, std::int64_t length, std::int64_t keys) {
      const TestArgument q = t({batch, 8, length, 64}, DType::bfloat16);
      const TestArgument k = t({batch, 8, keys, 64}, DType::bfloat16);
      return of("aten::_scaled_dot_product_flash_attention", {q, k, k});
    };
    CHECK(call(16, 1024, 1024).blocks.empty());  // 16 · 8 · 16 tiles fill 132 multiprocessors.
    const Scratch split = call(1, 1, 8192);      // 8 tiles, 32 blocks of 256 keys.
    REQUIRE(split.blocks.size() == 2);
    CHECK(split.blocks[1] == split.blocks[0] * 64);
    CHECK(split.blocks[0] % (8 * 4) == 0);
    CHECK(split.blocks[0] / (8 * 4) == 32);  // 8 · 32 of 264 slots: 97 % of one wave.
  }

  TEST_CASE("scratch known only to cuDNN is omitted, and counted") {
    TrainingStep step;
    step.call("aten::convolution", {t({1, 3, 8, 8}), t({4, 3, 3, 3})}, {}, step.layer);
    CHECK(simulate_step_memory(step.recording(), {}).incomplete_calls == 1);
    const profile::LoopOptions several{.micro_batches =
                                           3};  // The call, not its repetitions in the loop.
    CHECK(simulate_step_memory(step.recording(), {}, {.loop = several}).incomplete_calls == 1);
  }
}

}  // namespace symprof::test::step_memory_test
