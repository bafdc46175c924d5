// CTC loss, whose kernel keeps a table of all states of all paths.
#include <doctest/doctest.h>

#include "base/error.h"
#include "profile/profile.h"
#include "shape/step/propagate.h"
#include "tests/support/torch/graph_builder.h"
#include "trace/passes/input_values.h"

namespace symprof::ctc_loss_test {
namespace {

constexpr std::int64_t steps = 50, sequences = 16, classes = 20, targets = 12, f32 = 4;
constexpr std::int64_t states = 2 * targets + 1;  // A blank before, between and after.

struct SpeechGraph : test::GraphBuilder {
  ValueId log_probs =
      call("aten::log_softmax", "int",
           {ValueRef{parameter("scores", test::contiguous({steps, sequences, classes}))},
            std::int64_t{2}});
  ValueId labels = input("labels", test::contiguous({sequences, targets}, DType::int64));

  ValueId lengths(const char* name) {
    return input(name, test::contiguous({sequences}, DType::int64));
  }
  Graph with_output(ValueId loss) {
    graph.outputs = {loss};
    return graph;
  }
};

}  // namespace

TEST_SUITE("ctc_loss") {
  using Integers = std::vector<std::int64_t>;

  TEST_CASE("integer lengths: the table of states is saved, and all calls are counted") {
    SpeechGraph b;
    const Graph graph = b.with_output(
        b.call("aten::ctc_loss", "IntList",
               {ValueRef{b.log_probs}, ValueRef{b.labels}, Integers(sequences, steps),
                Integers(sequences, targets), std::int64_t{0}, std::int64_t{0}, false}));
    const StepOptions step;
    const Profile profile = profile::evaluate(shape::propagate(graph, step), step.device);
    const std::int64_t probabilities = steps * sequences * classes * f32;
    CHECK(profile.totals.saved_bytes ==
          probabilities + sequences * f32 + sequences * steps * states * f32);
    CHECK(profile.coverage.unmodelled == 0);
    CHECK(profile.totals.grad_bytes == probabilities);
  }

  Graph with_lengths_in_tensors() {
    SpeechGraph b;
    const ValueId of_steps = b.lengths("of_steps"), of_targets = b.lengths("of_targets");
    return b.with_output(b.call("aten::ctc_loss", "Tensor",
                                {ValueRef{b.log_probs}, ValueRef{b.labels}, ValueRef{of_steps},
                                 ValueRef{of_targets}, std::int64_t{0}, std::int64_t{0}, false}));
  }

  std::int64_t saved_with_longest(std::int64_t target) {
    return steps * sequences * classes * f32 + sequences * f32 +
           sequences * steps * (2 * target + 1) * f32;
  }

  TEST_CASE("tensor lengths determine sizes: refused with the node and advice") {
    try {
      shape::propagate(with_lengths_in_tensors(), {});
      FAIL("propagated");
    } catch (const Error& error) {
      CHECK(error.where() == "test: node n1 (aten::ctc_loss)");
      CHECK(error.problem() ==
            "ctc_loss reads the lengths of its sequences, and a tensor without storage has none");
      CHECK(error.advice().find("unbacked=max") != std::string::npos);
    }
  }

  TEST_CASE("given values of tensor lengths determine the table of states") {
    Graph graph = with_lengths_in_tensors();
    trace::InputValues of_steps, of_targets;
    for (std::int64_t i = 0; i < sequences; ++i) {
      of_steps.numbers.push_back(std::to_string(steps - i));
      of_targets.numbers.push_back(std::to_string(targets - 2 - i % 3));
    }
    for (const ValueId id : graph.inputs) {
      Value& input = graph.value(id);
      if (input.name == "labels") continue;
      input.constant = trace::data_of(input.name == "of_steps" ? of_steps : of_targets,
                                      input.spec.value(), {"inputs", input.name});
    }
    const StepOptions step;
    const Profile profile = profile::evaluate(shape::propagate(graph, step), step.device);
    CHECK(profile.totals.saved_bytes == saved_with_longest(targets - 2));
    CHECK(profile.totals.input_bytes == sequences * targets * 8 + 2 * sequences * 8);
  }

  TEST_CASE("upper bounds of tensor lengths are all steps and all targets of a row") {
    StepOptions step;
    step.unbacked = UnbackedSizes::max;
    const Profile profile =
        profile::evaluate(shape::propagate(with_lengths_in_tensors(), step), step.device);
    CHECK(profile.totals.saved_bytes == saved_with_longest(targets));
    CHECK(profile.warnings.size() == 1);
  }
}

}  // namespace symprof::ctc_loss_test
