// Parts of a run, and the steps that they make.
#include "record/program_parts.h"

#include <doctest/doctest.h>

using namespace symprof;

namespace {

/// A part of one call, which reads the result of call `reads` (none: of no call) and makes one.
struct Made {
  PartEnd end;
  bool has_forward = false;
  CallId reads = none;
};

struct Run {
  std::vector<ProgramPart> parts;
  Recording recording;

  explicit Run(const std::vector<Made>& made) {
    for (const Made& part : made) {
      const auto call = static_cast<CallId>(recording.calls.size());
      const auto node = static_cast<NodeId>(recording.nodes.size());
      recording.nodes.resize(recording.nodes.size() + 3);
      recording.calls.push_back({.node = node + 2, .outputs = {{none, call}}});
      if (part.reads != none) recording.calls.back().inputs = {{none, part.reads}};
      recording.storages.push_back({.allocated_by = call});
      parts.push_back({.range = {.first_call = call,
                                 .end_call = call + 1,
                                 .first_node = node,
                                 .end_node = node + 3,
                                 .passes = part.has_forward ? 1 : 0},
                       .end = part.end,
                       .has_forward = part.has_forward,
                       .first_pass_call = call});
    }
  }

  ProgramSteps steps() const { return steps_of(parts, recording, {}); }
};

constexpr Made trained{PartEnd::update, true};
constexpr Made updated{PartEnd::update};
constexpr Made evaluated{PartEnd::gradient_free};
constexpr Made open{PartEnd::open};

}  // namespace

TEST_SUITE("program_parts") {
  TEST_CASE("each update with a pass of its own ends a step") {
    const ProgramSteps found = Run({trained, trained, open}).steps();
    CHECK(found.finished == 2);
    REQUIRE(found.steps.size() == 3);
    CHECK(found.steps[1].first_call == 1);
    CHECK(found.steps[1].end_call == 2);
  }

  TEST_CASE("an update without a pass belongs to the step before it") {
    const ProgramSteps found = Run({trained, updated, trained, updated, open}).steps();
    CHECK(found.finished == 2);
    CHECK(found.steps[1].first_call == 2);
    CHECK(found.steps[1].end_call == 4);
    CHECK(found.steps[1].later_parts == std::vector<NodeId>{9});
    // Own nodes of both parts are the step's two, which come last: behind one node of each part.
    CHECK(node_in_step(found.steps[1], 6) == 2);
    CHECK(node_in_step(found.steps[1], 8) == 0);
    CHECK(node_in_step(found.steps[1], 10) == 3);
    CHECK(node_in_step(found.steps[1], 11) == 1);
  }

  TEST_CASE("passes without gradients that no step reads lie between steps") {
    const ProgramSteps found = Run({trained, evaluated, evaluated, trained, open}).steps();
    CHECK(found.finished == 2);
    CHECK(found.steps[1].first_call == 3);
    REQUIRE(found.between.size() == 1);
    CHECK(found.between[0].before == 1);
    CHECK(found.between[0].passes == 2);
    CHECK(found.between[0].range.first_call == 1);
    CHECK(found.between[0].range.end_call == 3);
  }

  TEST_CASE("from the first one that the step reads they are part of it") {
    const Made student{PartEnd::update, true, 2};
    const ProgramSteps found = Run({trained, evaluated, evaluated, student, open}).steps();
    CHECK(found.steps[1].first_call == 2);
    REQUIRE(found.between.size() == 1);
    CHECK(found.between[0].passes == 1);
  }

  TEST_CASE("what a pass makes of an earlier one's result hands it on") {
    const Made second{PartEnd::gradient_free, false, 1};
    const Made student{PartEnd::update, true, 2};
    const ProgramSteps found = Run({trained, evaluated, second, student, open}).steps();
    CHECK(found.steps[1].first_call == 1);
    CHECK(found.between.empty());
  }

  TEST_CASE("where updates need no gradients, all passes are the step's") {
    const ProgramSteps found = Run({evaluated, updated, evaluated, updated, open}).steps();
    CHECK(found.finished == 2);
    CHECK(found.between.empty());
    CHECK(found.steps[1].first_call == 2);
  }

  TEST_CASE("where optimizers step, parameters that the program writes end nothing") {
    Run run({trained, trained, trained, open});
    run.parts[1].range.optimizers = {{"sgd", "opt"}};
    run.parts[2].range.optimizers = {{"sgd", "opt"}};
    const ProgramSteps found = run.steps();
    CHECK(found.finished == 2);
    CHECK(found.steps[0].end_call == 2);
  }

  TEST_CASE("marks alone end steps where there are any") {
    const Made marked{PartEnd::mark};
    const ProgramSteps found = Run({trained, trained, marked, trained, marked, open}).steps();
    CHECK(found.finished == 2);
    CHECK(found.steps[0].end_call == 3);
    CHECK(found.steps[1].first_call == 3);
  }

  TEST_CASE("without updates all that ran is one step") {
    const ProgramSteps found = Run({evaluated, evaluated, open}).steps();
    CHECK(found.finished == 0);
    REQUIRE(found.steps.size() == 1);
    CHECK(found.steps[0].end_call == 3);
  }
}
