#include "shape/lowering/contrib/activation.h"

#include <ATen/ATen.h>

#include <array>
#include <cmath>

#include "shape/lowering/operands.h"

namespace symprof::lowering {
namespace {

/// alpha, beta and gamma of an activation.
using Numbers = std::array<double, 3>;

/// The node's parameters; `otherwise` if it has none.
Numbers numbers_of(const OnnxCall& call, const Numbers& otherwise) {
  if (const auto given = call.reals("activation_params")) {
    Numbers all = otherwise;
    std::copy_n(given->begin(), std::min(given->size(), all.size()), all.begin());
    return all;
  }
  return {call.real("activation_alpha", otherwise[0]), call.real("activation_beta", otherwise[1]),
          call.real("activation_gamma", otherwise[2])};
}

at::Tensor hard_sigmoid(const at::Tensor& x, const Numbers& numbers) {
  return at::clamp(at::add(at::mul(x, numbers[0]), numbers[1]), 0, 1);
}

}  // namespace

at::Tensor activated(const OnnxCall& call, const at::Tensor& x) {
  const std::string name = call.text("activation", "");
  if (name.empty()) return x;
  if (name == "Relu") return at::relu(x);
  if (name == "Tanh") return at::tanh(x);
  if (name == "Sigmoid") return at::sigmoid(x);
  if (name == "Softplus") return at::softplus(x);
  if (name == "Softsign") return at::div(x, at::add(at::abs(x), 1));
  if (name == "Gelu") return at::gelu(x);
  if (name == "LeakyRelu") return at::leaky_relu(x, numbers_of(call, {0.01})[0]);
  if (name == "Elu") return at::elu(x, numbers_of(call, {1.0})[0]);
  if (name == "HardSigmoid") return hard_sigmoid(x, numbers_of(call, {0.2, 0.5}));
  if (name == "HardSwish") return at::hardswish(x);
  if (name == "Softmax") return at::softmax(x, call.integer("activation_axis", -1));
  if (name == "Clip") {
    const Numbers bounds = numbers_of(call, {-INFINITY, INFINITY});
    return at::clamp(x, bounds[0], bounds[1]);
  }
  call.fail("the activation '" + name + "' is not known",
            "Wanted: Relu, LeakyRelu, Elu, Tanh, Sigmoid, HardSigmoid, HardSwish, Clip, Softplus, "
            "Softsign, Softmax or Gelu.");
}

}  // namespace symprof::lowering
