// Grouping of a run's parts into steps.
#include "record/program_parts.h"

#include <doctest/doctest.h>

using namespace symprof;

namespace {

/// A part with one call, which reads the result of call `reads` (none: no input) and has one
/// result.
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
  TEST_CASE("each update with its own pass ends a step") {
    const ProgramSteps found = Run({trained, trained, open}).steps();
    CHECK(found.finished == 2);
    REQUIRE(found.steps.size() == 3);
    CHECK(found.steps[1].first_call == 1);
    CHECK(found.steps[1].end_call == 2);
  }

  TEST_CASE("an update without a pass belongs to the previous step") {
    const ProgramSteps found = Run({trained, updated, trained, updated, open}).steps();
    CHECK(found.finished == 2);
    CHECK(found.steps[1].first_call == 2);
    CHECK(found.steps[1].end_call == 4);
    CHECK(found.steps[1].later_parts == std::vector<NodeId>{9});
    // The own nodes of both parts become the step's two, which come last, after one node of each
    // part.
    CHECK(node_in_step(found.steps[1], 6) == 2);
    CHECK(node_in_step(found.steps[1], 8) == 0);
    CHECK(node_in_step(found.steps[1], 10) == 3);
    CHECK(node_in_step(found.steps[1], 11) == 1);
  }

  TEST_CASE("gradient-free passes that no step reads are between steps") {
    const ProgramSteps found = Run({trained, evaluated, evaluated, trained, open}).steps();
    CHECK(found.finished == 2);
    CHECK(found.steps[1].first_call == 3);
    REQUIRE(found.between.size() == 1);
    CHECK(found.between[0].before == 1);
    CHECK(found.between[0].passes == 2);
    CHECK(found.between[0].range.first_call == 1);
    CHECK(found.between[0].range.end_call == 3);
  }

  TEST_CASE("gradient-free passes belong to the step from the first one it reads") {
    const Made student{PartEnd::update, true, 2};
    const ProgramSteps found = Run({trained, evaluated, evaluated, student, open}).steps();
    CHECK(found.steps[1].first_call == 2);
    REQUIRE(found.between.size() == 1);
    CHECK(found.between[0].passes == 1);
  }

  TEST_CASE("a gradient-free pass passes on an earlier one's result") {
    const Made second{PartEnd::gradient_free, false, 1};
    const Made student{PartEnd::update, true, 2};
    const ProgramSteps found = Run({trained, evaluated, second, student, open}).steps();
    CHECK(found.steps[1].first_call == 1);
    CHECK(found.between.empty());
  }

  TEST_CASE("without gradients, all passes belong to the step") {
    const ProgramSteps found = Run({evaluated, updated, evaluated, updated, open}).steps();
    CHECK(found.finished == 2);
    CHECK(found.between.empty());
    CHECK(found.steps[1].first_call == 2);
  }

  TEST_CASE("in a program with optimizers, its own parameter writes end no step") {
    Run run({trained, trained, trained, open});
    run.parts[1].range.optimizers = {{"sgd", "opt"}};
    run.parts[2].range.optimizers = {{"sgd", "opt"}};
    const ProgramSteps found = run.steps();
    CHECK(found.finished == 2);
    CHECK(found.steps[0].end_call == 2);
  }

  TEST_CASE("if there are marks, only they end steps") {
    const Made marked{PartEnd::mark};
    const ProgramSteps found = Run({trained, trained, marked, trained, marked, open}).steps();
    CHECK(found.finished == 2);
    CHECK(found.steps[0].end_call == 3);
    CHECK(found.steps[1].first_call == 3);
  }

  TEST_CASE("a run without updates is one step") {
    const ProgramSteps found = Run({evaluated, evaluated, open}).steps();
    CHECK(found.finished == 0);
    REQUIRE(found.steps.size() == 1);
    CHECK(found.steps[0].end_call == 3);
  }
}
