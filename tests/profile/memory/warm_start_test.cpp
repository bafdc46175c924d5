#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "profile/memory/step_memory.h"
#include "tests/support/training_step.h"

namespace symprof::test::warm_start_test {
namespace {

using profile::AllocatorAction;
using profile::simulate_step_memory;
using profile::StepMemoryOptions;

}  // namespace

TEST_SUITE("warm_start") {
  TEST_CASE("a warm start allocates states before the first batch, and holds no more") {
    TrainingStep step;
    const auto run = [&](bool warm_start, int steps) {
      return simulate_step_memory(step.recording(), {},
                                  {.loop = {.warm_start = warm_start}, .steps = steps});
    };
    // The first step additionally holds the state.
    CHECK(run(true, 1).timeline.front().held[MemoryCategory::optimizer] == weight_bytes);
    CHECK(run(false, 1).timeline.front().held[MemoryCategory::optimizer] == 0);
    for (const int steps : {2, 3})
      CHECK(run(true, steps).peak_allocated_bytes == run(false, steps).peak_allocated_bytes);
    // With memory reserved up front, the state fits after the parameter instead of among backward's
    // blocks.
    StepMemoryOptions options;
    options.loop.warm_start = true;
    options.loop.allocator.up_front_bytes = {40_MiB};
    const profile::MemoryTrace trace = profile::trace_step_memory(step.recording(), {}, options);
    std::vector<profile::Address> large;
    for (const profile::MemoryTrace::Entry& entry : trace.entries)
      if (entry.event.action == AllocatorAction::alloc && entry.event.bytes == weight_bytes)
        large.push_back(entry.event.address);
    REQUIRE(large.size() >= 2);
    CHECK(large[1] == large[0] + weight_bytes);
  }

  TEST_CASE("a warm start allocates both threads' workspaces if a call multiplies") {
    const DeviceSpec device{.cublas_workspace_bytes = 32_MiB};
    TrainingStep step;
    CHECK_FALSE(simulate_step_memory(step.recording(), device).uses_cublas);
    step.call("aten::mm", {t({8, 8}), t({8, 8})}, {}, step.layer, Phase::forward);
    const auto first_workspaces = [&](bool warm_start) {
      return simulate_step_memory(step.recording(), device,
                                  {.loop = {.warm_start = warm_start}, .steps = 1})
          .timeline.front()
          .held[MemoryCategory::workspace];
    };
    CHECK(first_workspaces(false) == 0);
    CHECK(first_workspaces(true) == 2 * 32_MiB);
  }
}

}  // namespace symprof::test::warm_start_test
