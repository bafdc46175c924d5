#include "measure/real/function_calls.h"

#include <ATen/ATen.h>

namespace symprof::measure::real {
namespace {

using profile::Function;

/// Unary functions; empty for others.
KernelCall unary_call(Function function, const at::Tensor& a) {
  switch (function) {
    case Function::sqrt:
      return [a = a.abs()] { return at::sqrt(a); };
    case Function::exp:
      return [a] { return at::exp(a); };
    case Function::log:
      return [a = a.abs().add_(0.1)] { return at::log(a); };
    case Function::sin:
      return [a] { return at::sin(a); };
    case Function::atan:
      return [a] { return at::atan(a); };
    case Function::tanh:
      return [a] { return at::tanh(a); };
    case Function::sigmoid:
      return [a] { return at::sigmoid(a); };
    case Function::erf:
      return [a] { return at::erf(a); };
    case Function::gelu:
      return [a] { return at::gelu(a); };
    case Function::gelu_tanh:
      return [a] { return at::gelu(a, "tanh"); };
    case Function::mish:
      return [a] { return at::mish(a); };
    case Function::elu:
      return [a] { return at::elu(a); };
    case Function::softplus:
      return [a] { return at::softplus(a); };
    case Function::remainder:
      return [a] { return at::remainder(a, 0.3); };
    case Function::lgamma:
      return [a = a.abs().add_(0.1)] { return at::lgamma(a); };
    default:
      return {};
  }
}

KernelCall binary_call(Function function, const at::Tensor& a, const at::Tensor& b) {
  switch (function) {
    case Function::gelu_backward:
      return [a, b] { return at::gelu_backward(a, b); };
    case Function::gelu_tanh_backward:
      return [a, b] { return at::gelu_backward(a, b, "tanh"); };
    case Function::silu_backward:
      return [a, b] { return at::silu_backward(a, b); };
    case Function::mish_backward:
      return [a, b] { return at::mish_backward(a, b); };
    case Function::pow:
      return [a = a.abs().add_(0.1), b] { return at::pow(a, b); };
    case Function::where:
      return [a, b, mask = a.gt(0)] { return at::where(mask, a, b); };
    case Function::masked_fill:
      return [a, mask = b.gt(0)] { return at::masked_fill(a, mask, 0); };
    case Function::compare:
      return [a, b] { return at::gt(a, b); };
    default:
      return {};
  }
}

}  // namespace

KernelCall function_call(const profile::FunctionWork& work,
                         const std::function<at::Tensor(std::int64_t)>& of) {
  const at::Tensor a = of(work.numbers);
  if (KernelCall call = unary_call(work.function, a)) return call;
  return binary_call(work.function, a, of(work.numbers));
}

}  // namespace symprof::measure::real
