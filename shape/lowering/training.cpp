// Optimizer steps (ai.onnx.preview.training). Inputs: rate, step, then X…, G…, and the states.
#include <fmt/format.h>

#include <cmath>

#include "shape/lowering/families.h"
#include "shape/lowering/operands.h"

namespace symprof::lowering {
namespace {

/// The number of parameters, with `lists` tensors each at input 2 + list · parameters + i. Throws
/// Error if the number of inputs does not fit.
std::size_t parameter_count(const OnnxCall& call, std::size_t lists) {
  if (call.inputs.size() < 2 + lists || (call.inputs.size() - 2) % lists != 0)
    call.fail(fmt::format("{} inputs", call.inputs.size()),
              fmt::format("Wanted: rate, step and {} for each parameter.", lists));
  return (call.inputs.size() - 2) / lists;
}

at::Tensor regularized(const OnnxCall& call, const at::Tensor& x, const at::Tensor& gradient) {
  return at::add(gradient, x, call.real("norm_coefficient", 0.0));
}

at::Tensor number(const OnnxCall& call, std::size_t index, const at::Tensor& like) {
  return to_device_of(call.input(index), like).reshape({});
}

Tensors adagrad(OnnxCall& call) {
  const std::size_t n = parameter_count(call, 3);
  Tensors results(2 * n);
  for (std::size_t i = 0; i < n; ++i) {
    const at::Tensor &x = call.input(2 + i), &sum = call.input(2 + 2 * n + i);
    const at::Tensor step = number(call, 1, x);
    const at::Tensor rate =
        at::div(number(call, 0, x), at::add(at::mul(step, call.real("decay_factor", 0.0)), 1));
    const at::Tensor g = regularized(call, x, call.input(2 + n + i));
    results[n + i] = at::add(sum, at::mul(g, g));
    const at::Tensor adaptive = at::add(at::sqrt(results[n + i]), call.real("epsilon", 1e-6));
    results[i] = at::sub(x, at::div(at::mul(g, rate), adaptive));
  }
  return results;
}

Tensors adam(OnnxCall& call) {
  const std::size_t n = parameter_count(call, 4);
  const double alpha = call.real("alpha", 0.9), beta = call.real("beta", 0.999);
  Tensors results(3 * n);
  for (std::size_t i = 0; i < n; ++i) {
    const at::Tensor& x = call.input(2 + i);
    const at::Tensor g = regularized(call, x, call.input(2 + n + i));
    const at::Tensor v = at::add(at::mul(call.input(2 + 2 * n + i), alpha), g, 1 - alpha);
    const at::Tensor h = at::add(at::mul(call.input(2 + 3 * n + i), beta), at::mul(g, g), 1 - beta);
    const at::Tensor step = number(call, 1, x).to(x.device(), x.scalar_type());
    const auto remaining = [&](double decay) { return at::rsub(at::pow(decay, step), 1); };
    // Bias correction, from the first step on; there is none at step 0.
    const at::Tensor factor = at::where(
        at::gt(step, 0), at::div(at::sqrt(remaining(beta)), remaining(alpha)), at::ones_like(step));
    const at::Tensor rate = at::mul(number(call, 0, x), factor);
    const at::Tensor moved =
        at::sub(x, at::div(at::mul(v, rate), at::add(at::sqrt(h), call.real("epsilon", 1e-6))));
    results[i] = at::mul(moved, 1 - call.real("norm_coefficient_post", 0.0));
    results[n + i] = v, results[2 * n + i] = h;
  }
  return results;
}

/// The first step uses the gradient without beta, which applies from the second step on.
Tensors momentum(OnnxCall& call) {
  const std::size_t n = parameter_count(call, 3);
  const double alpha = call.real("alpha", 0.0);
  const bool nesterov = call.text("mode", "standard") == "nesterov";
  Tensors results(2 * n);
  for (std::size_t i = 0; i < n; ++i) {
    const at::Tensor& x = call.input(2 + i);
    const at::Tensor g = regularized(call, x, call.input(2 + n + i));
    const at::Tensor later = at::gt(number(call, 1, x), 0);
    const at::Tensor beta = at::where(later, at::full({}, call.real("beta", 1.0), x.options()),
                                      at::ones({}, x.options()));
    const at::Tensor v = at::add(at::mul(call.input(2 + 2 * n + i), alpha), at::mul(g, beta));
    const at::Tensor direction = nesterov ? at::add(g, v, alpha) : v;
    results[i] = at::sub(x, at::mul(direction, number(call, 0, x)));
    results[n + i] = v;
  }
  return results;
}

constexpr Lowering training_rows[] = {
    {"ai.onnx.preview.training::Adagrad", adagrad},
    {"ai.onnx.preview.training::Adam", adam},
    {"ai.onnx.preview.training::Momentum", momentum},
};

}  // namespace

Lowerings training_lowerings() { return training_rows; }

}  // namespace symprof::lowering
