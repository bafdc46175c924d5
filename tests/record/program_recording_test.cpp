// A program of two steps, each with one operation (an allocation), its backward and an update.
#include "record/program_recording.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "profile/memory/holdings.h"
#include "profile/program.h"

using namespace symprof;

namespace {

// Per step: nodes other, optimizer, relu; calls relu (creates storage 0 + 3·step, saved), backward
// (creates the gradient 1 + 3·step, frees the activation), update (creates a temporary). A step's
// gradient is freed by the first call of the next.
ProgramRecording two_steps() {
  ProgramRecording program;
  Recording& recording = program.recording;
  recording.ops = {"aten::relu", "aten::threshold_backward", "aten::add_"};
  recording.storages.push_back({.bytes = 64, .kind = StorageKind::parameter});
  for (std::int32_t step = 0; step < 2; ++step) {
    const NodeId other = 3 * step;
    const CallId first = 3 * step;
    const std::size_t first_event = recording.events.size();
    const StorageId made = 1 + 3 * step;
    recording.nodes.push_back({.name = "other", .op = "other", .kind = NodeKind::loss});
    recording.nodes.push_back(
        {.name = "optimizer", .op = "optimizer", .kind = NodeKind::optimizer});
    recording.nodes.push_back({.name = "relu", .op = "aten::relu", .parameters = {0}});
    const auto add_call = [&](std::int32_t op, Phase phase, NodeId node, StorageId output) {
      recording.calls.push_back({.op = op, .phase = phase, .node = node, .outputs = {{0, output}}});
    };
    const auto add_storage = [&](StorageKind kind, CallId call, NodeId node, bool saved) {
      recording.storages.push_back(
          {.bytes = 32, .kind = kind, .allocated_by = call, .node = node, .saved = saved});
    };
    add_call(0, Phase::forward, other + 2, made);
    add_storage(StorageKind::activation, first, other + 2, true);
    if (step > 0) recording.events.push_back({made - 2, first, EventKind::free});
    recording.events.push_back({made, first, EventKind::allocate});
    add_call(1, Phase::backward, other + 2, made + 1);
    add_storage(StorageKind::gradient, first + 1, other + 2, false);
    recording.events.push_back({made + 1, first + 1, EventKind::allocate});
    recording.events.push_back({made, first + 1, EventKind::free});
    add_call(2, Phase::optimizer, other + 1, made + 2);
    add_storage(StorageKind::activation, first + 2, other + 1, false);
    recording.events.push_back({made + 2, first + 2, EventKind::allocate});
    recording.events.push_back({made + 2, first + 2, EventKind::free});
    program.steps.push_back({.first_call = first,
                             .end_call = first + 3,
                             .first_node = other,
                             .end_node = other + 3,
                             .first_event = first_event,
                             .end_event = recording.events.size()});
  }
  return program;
}

}  // namespace

TEST_SUITE("program_recording") {
  TEST_CASE("a step has its calls, and its own two nodes last") {
    const Recording step = step_of(two_steps(), two_steps().steps[1]);
    REQUIRE(step.nodes.size() == 3);
    CHECK(step.nodes[0].name == "relu");
    CHECK(step.nodes[1].kind == NodeKind::loss);
    CHECK(step.nodes[2].kind == NodeKind::optimizer);
    REQUIRE(step.calls.size() == 3);
    CHECK(step.calls[0].node == 0);
    CHECK(step.calls[2].node == 2);
  }

  TEST_CASE("earlier frees are omitted, and an earlier gradient freed here is no gradient") {
    const Recording step = step_of(two_steps(), two_steps().steps[1]);
    // The parameter, the previous step's gradient, and three storages of this step.
    REQUIRE(step.storages.size() == 5);
    CHECK(step.storages[0].kind == StorageKind::parameter);
    CHECK(step.storages[1].kind == StorageKind::activation);
    CHECK_FALSE(step.storages[1].saved);
    CHECK(step.storages[1].allocated_by == none);
    CHECK(step.storages[2].saved);
    CHECK(step.storages[2].allocated_by == 0);
    CHECK(step.storages[3].kind == StorageKind::gradient);
    CHECK(step.events.front().storage == 1);
    CHECK(step.events.front().kind == EventKind::free);
  }

  TEST_CASE(
      "what is neither a module's nor an optimizer's, from before the step to its end, is "
      "persistent") {
    ProgramRecording program = two_steps();
    const auto averaged = static_cast<StorageId>(program.recording.storages.size());
    program.recording.storages.push_back({.bytes = 64, .allocated_by = 2, .node = 1});
    program.recording.events.push_back({averaged, 2, EventKind::allocate});
    const Recording step = step_of(program, program.steps[1]);
    REQUIRE(step.storages.size() == 6);
    const auto categories =
        profile::storage_categories(program.recording, profile::range_of(program.steps[1]));
    CHECK(categories[static_cast<std::size_t>(averaged)] == MemoryCategory::persistent);
    CHECK(std::ranges::count(categories, MemoryCategory::persistent) == 1);
    CHECK(step.storages[1].kind == StorageKind::activation);  // Freed in the step.
  }

  TEST_CASE("nodes of another step have no index") {
    const ProgramStep step = two_steps().steps[1];
    CHECK_FALSE(node_in_step(step, 2));
    CHECK(node_in_step(step, 3) == 1);
    CHECK(node_in_step(step, 5) == 0);
  }
}
