#include "profile/memory/spacers.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "profile/memory/step_memory.h"
#include "tests/support/module_step.h"

namespace symprof::test::spacers_test {
namespace {

using profile::AllocatorAction;
using profile::calls_of;
using profile::MemoryTrace;
using profile::module_begins;
using profile::ModuleBegin;
using profile::Spacer;

std::vector<std::string> paths_of(const Recording& recording) {
  std::vector<std::string> paths;
  for (const ModuleBegin& begin : module_begins(recording)) paths.push_back(begin.path);
  return paths;
}

}  // namespace

TEST_SUITE("spacers") {
  TEST_CASE("modules begin with their first call in the forward pass") {
    ModuleStep step;
    const NodeId again = step.in({"b@1"}), backward = step.in({"only_backward"});
    const CallId second = step.call("aten::relu", {}, {}, again);
    step.call("aten::relu", {}, {}, again);
    step.call("aten::relu", {}, {}, backward, Phase::recompute);
    step.call("aten::relu", {}, {}, step.in({""}));
    CHECK(paths_of(step.recording()) == std::vector<std::string>{"a", "a.inner", "b", "c", "b@1"});
    const std::vector<ModuleBegin> begins = module_begins(step.recording());
    CHECK(begins[0].call == begins[1].call);
    CHECK(begins.back().call == second);
    const auto calls = calls_of({{2_MiB, "a.inner", "b@1"}}, step.recording());
    REQUIRE(calls.size() == 1);
    CHECK(calls.front().from == begins.front().call);
    CHECK(calls.front().until == second);
  }

  TEST_CASE("a spacer between other modules is refused") {
    ModuleStep step;
    for (const auto& [from, until] :
         {std::pair("a", "nowhere"), {"nowhere", "a"}, {"b", "a"}, {"a", "a.inner"}, {"", "a"}}) {
      CAPTURE(from);
      CAPTURE(until);
      CHECK_THROWS_AS(calls_of({{2_MiB, from, until}}, step.recording()), Error);
    }
    step.recording().rank.emplace();
    CHECK_THROWS_AS(calls_of({{2_MiB, "a", "b"}}, step.recording()), Error);
    CHECK(calls_of({}, step.recording()).empty());
  }

  TEST_CASE("each forward pass holds it, and what is made meanwhile lies behind it") {
    ModuleStep step;
    constexpr std::int64_t bytes = 3_MiB, up_front = 40_MiB;
    constexpr int passes = 2;
    profile::LoopOptions loop{.micro_batches = passes, .spacers = {{bytes, "b", "c"}}};
    loop.allocator.up_front_bytes = {up_front};
    const MemoryTrace trace =
        profile::trace_step_memory(step.recording(), {}, {.loop = loop, .steps = 1});
    std::vector<std::pair<AllocatorAction, std::int64_t>> events;
    for (const MemoryTrace::Entry& entry : trace.entries)
      if (entry.call != none && (entry.event.action == AllocatorAction::alloc ||
                                 entry.event.action == AllocatorAction::free))
        events.emplace_back(entry.event.action, entry.event.bytes);
    const std::vector<std::pair<AllocatorAction, std::int64_t>> one_pass{
        {AllocatorAction::alloc, 12_MiB}, {AllocatorAction::alloc, bytes},
        {AllocatorAction::alloc, 4_MiB},  {AllocatorAction::free, 12_MiB},
        {AllocatorAction::free, bytes},   {AllocatorAction::alloc, 14_MiB},
        {AllocatorAction::free, 4_MiB},   {AllocatorAction::free, 14_MiB}};
    REQUIRE(events.size() == passes * one_pass.size());
    for (std::size_t i = 0; i < events.size(); ++i)
      CHECK(events[i] == one_pass[i % one_pass.size()]);
    const auto second = std::ranges::find_if(trace.entries, [](const MemoryTrace::Entry& entry) {
      return entry.event.action == AllocatorAction::alloc && entry.event.bytes == 4_MiB;
    });
    const auto first = std::ranges::find_if(trace.entries, [](const MemoryTrace::Entry& entry) {
      return entry.event.action == AllocatorAction::alloc && entry.event.bytes == 12_MiB;
    });
    CHECK(second->event.address == first->event.address + 12_MiB + bytes);
    // They count in what is held: 12 + 3 + 4 and 4 + 14.
    CHECK(
        profile::simulate_step_memory(step.recording(), {}, {.loop = loop}).peak_allocated_bytes ==
        (12 + 3 + 4) * 1_MiB);
  }
}

}  // namespace symprof::test::spacers_test
