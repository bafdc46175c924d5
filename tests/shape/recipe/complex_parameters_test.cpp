// Complex parameters, as in frequency-domain networks: their memory, and the torch.optim updates
// that accept them.
#include <doctest/doctest.h>

#include <algorithm>

#include "base/error.h"
#include "profile/profile.h"
#include "shape/step/propagate.h"
#include "tests/support/torch/graph_builder.h"

namespace symprof::complex_parameters_test {
namespace {

constexpr std::int64_t rows = 64, width = 32, real_bytes = 4, complex_bytes = 8;
constexpr std::int64_t parameter_bytes = rows * width * complex_bytes;

// sum(view_as_real(x * weight)).
Graph weighted_spectrum() {
  test::GraphBuilder builder;
  const ValueId x = builder.input("x", test::contiguous({rows, width}));
  const ValueId weight =
      builder.parameter("weight", test::contiguous({rows, width}, DType::complex64));
  const ValueId product = builder.call("aten::mul", "Tensor", {ValueRef{x}, ValueRef{weight}});
  const ValueId numbers = builder.call("aten::view_as_real", "default", {ValueRef{product}});
  builder.graph.outputs = {builder.call("aten::sum", "default", {ValueRef{numbers}})};
  return builder.graph;
}

StepOptions updated_by(Optimizer optimizer, std::optional<OptimizerVariant> variant = {}) {
  return {.optimizer = optimizer, .optimizer_variant = variant};
}

Profile profile_of(const StepOptions& step) {
  return profile::evaluate(shape::propagate(weighted_spectrum(), step), step.device);
}

// The shapes of the update's square roots.
std::vector<std::vector<std::int64_t>> shapes_of_roots(const Recording& recording) {
  std::vector<std::vector<std::int64_t>> shapes;
  for (const CallRecord& call : recording.calls) {
    const std::string& op = recording.ops[static_cast<std::size_t>(call.op)];
    if (call.phase != Phase::optimizer || op.find("sqrt") == op.npos) continue;
    for (const TensorRecord& output : call.outputs)
      shapes.push_back(recording.specs[static_cast<std::size_t>(output.spec)].sizes);
  }
  return shapes;
}

std::string refusal(const StepOptions& step) {
  try {
    profile_of(step);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_SUITE("complex_parameters") {
  TEST_CASE("complex parameters have gradients of their size and save a product's operands") {
    const Profile profile = profile_of({});
    CHECK(profile.totals.param_bytes == parameter_bytes);
    CHECK(profile.totals.param_count == rows * width);
    CHECK(profile.totals.grad_bytes == parameter_bytes);
    // The weight's gradient needs only the input, which is the graph's.
    CHECK(profile.totals.saved_bytes_with_inputs == rows * width * real_bytes);
  }

  TEST_CASE("Adam and RMSprop compute on the real and imaginary parts") {
    const std::vector<std::vector<std::int64_t>> pairs{{rows, width, 2}};
    for (const OptimizerVariant variant : {OptimizerVariant::single, OptimizerVariant::foreach}) {
      const Profile adamw = profile_of(updated_by(Optimizer::adamw, variant));
      CHECK(adamw.totals.optimizer_bytes == 2 * parameter_bytes);
      CHECK(shapes_of_roots(adamw.recording) == pairs);
      const Profile rmsprop = profile_of(updated_by(Optimizer::rmsprop, variant));
      CHECK(rmsprop.totals.optimizer_bytes == parameter_bytes);
      CHECK(shapes_of_roots(rmsprop.recording) == pairs);
    }
  }

  TEST_CASE("the momentum of complex parameters is complex") {
    const Profile profile = profile_of(updated_by(Optimizer::sgd_momentum));
    CHECK(profile.totals.optimizer_bytes == parameter_bytes);
  }

  TEST_CASE("what PyTorch refuses is refused, with advice") {
    const std::string fused = refusal(updated_by(Optimizer::adamw, OptimizerVariant::fused));
    CHECK(fused.find("no complex parameters") != fused.npos);
    CHECK(fused.find("foreach or single") != fused.npos);
    const std::string adafactor = refusal(updated_by(Optimizer::adafactor));
    CHECK(adafactor.find("Choose another one") != adafactor.npos);
  }

  TEST_CASE("gradients of complex parameters are clipped") {
    StepOptions step = updated_by(Optimizer::adamw);
    step.clip_grad_norm = true;
    CHECK(profile_of(step).totals.grad_bytes == parameter_bytes);
  }
}

}  // namespace symprof::complex_parameters_test
