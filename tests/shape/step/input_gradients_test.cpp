// Inputs with gradients, as torch.export writes them for adversarial training and saliency maps.
#include <doctest/doctest.h>

#include "profile/profile.h"
#include "shape/step/propagate.h"
#include "tests/support/torch/graph_builder.h"

namespace symprof::input_gradients_test {
namespace {

constexpr std::int64_t rows = 64, width = 32, outputs = 16, f32 = 4, block = 512;
constexpr std::int64_t product_flops = 2 * rows * width * outputs;

/// sum(x @ weight), with gradients of either operand or of both.
Profile product(bool input_has_gradient, bool parameter_has_gradient) {
  test::GraphBuilder b;
  const ValueId x = b.input("x", test::contiguous({rows, width}));
  const ValueId weight = b.parameter("weight", test::contiguous({width, outputs}));
  b.graph.values[static_cast<std::size_t>(x)].requires_grad = input_has_gradient;
  b.graph.values[static_cast<std::size_t>(weight)].requires_grad = parameter_has_gradient;
  const ValueId y = b.call("aten::mm", "default", {ValueRef{x}, ValueRef{weight}});
  b.graph.outputs = {b.call("aten::sum", "default", {ValueRef{y}})};
  const StepOptions step{.optimizer = Optimizer::sgd_momentum};
  return profile::evaluate(shape::propagate(b.graph, step), step.device);
}

std::int64_t activations_and_gradients(const Profile& profile) {
  const MemoryBreakdown& held = profile.memory.at_peak;
  return held[MemoryCategory::gradients] + held[MemoryCategory::activations] +
         held[MemoryCategory::temporaries];
}

}  // namespace

TEST_SUITE("input_gradients") {
  TEST_CASE("each gradient is a separate product") {
    CHECK(product(false, true).totals.bwd_flops == product_flops);
    CHECK(product(true, true).totals.bwd_flops == 2 * product_flops);
    CHECK(product(true, false).totals.bwd_flops == product_flops);
  }

  TEST_CASE("the input's gradient is kept, and no optimizer updates it") {
    const Profile without = product(false, true), with = product(true, true);
    CHECK(with.totals.grad_bytes == width * outputs * f32);  // Only the parameter's.
    CHECK(with.totals.optimizer_bytes == without.totals.optimizer_bytes);
    // Weight, momentum, its gradient; input and its gradient; the loss and its initial gradient.
    constexpr std::int64_t parameter = width * outputs * f32, input = rows * width * f32;
    CHECK(with.totals.tensor_peak.bytes == 3 * parameter + 2 * input + 2 * block);
    CHECK(activations_and_gradients(with) > activations_and_gradients(without));
  }

  TEST_CASE("with only frozen parameters there is no parameter gradient and no state") {
    const Profile profile = product(true, false);
    CHECK(profile.totals.grad_bytes == 0);
    CHECK(profile.totals.optimizer_bytes == 0);
  }
}

}  // namespace symprof::input_gradients_test
