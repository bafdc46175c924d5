// The loss of speech recognition, whose kernel keeps a table of all states of all paths.
#include <doctest/doctest.h>

#include "base/error.h"
#include "profile/profile.h"
#include "shape/step/propagate.h"
#include "tests/support/torch/graph_builder.h"

namespace symprof::ctc_loss_test {
namespace {

constexpr std::int64_t steps = 50, sequences = 16, classes = 20, targets = 12, f32 = 4;
constexpr std::int64_t states = 2 * targets + 1;  // A blank before, between and behind.

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

  TEST_CASE("lengths that are numbers: the table of states is saved, and all is counted") {
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

  TEST_CASE("lengths that are tensors decide sizes: refused, with the node and what helps") {
    SpeechGraph b;
    const ValueId of_steps = b.lengths("of_steps"), of_targets = b.lengths("of_targets");
    const Graph graph =
        b.with_output(b.call("aten::ctc_loss", "Tensor",
                             {ValueRef{b.log_probs}, ValueRef{b.labels}, ValueRef{of_steps},
                              ValueRef{of_targets}, std::int64_t{0}, std::int64_t{0}, false}));
    try {
      shape::propagate(graph, {});
      FAIL("propagated");
    } catch (const Error& error) {
      CHECK(error.where() == "test: node n1 (aten::ctc_loss)");
      CHECK(error.problem() ==
            "this call reads the values of a tensor, and a tensor without storage has none.");
      CHECK(error.advice() == "Make that tensor a constant of the model.");
    }
  }
}

}  // namespace symprof::ctc_loss_test
