// Activations and their gradients: elementwise, except a few whose CUDA kernel allocates
// differently (native/Activation.cpp, native/cuda/Activation.cpp).
#include <ATen/ATen.h>
#include <torch/library.h>

#include "meta/kernels/allocation.h"
#include "meta/kernels/families.h"
#include "meta/kernels/pointwise.h"

namespace symprof::kernels {
namespace {

using at::Scalar;
using at::Tensor;
using Two = std::tuple<Tensor, Tensor>;

template <typename... Options>
Tensor unary(const Tensor& self, Options...) {
  return pointwise({self});
}

template <typename... Options>
Tensor binary(const Tensor& self, const Tensor& other, Options...) {
  return pointwise({self, other});
}

Tensor gelu(const Tensor& self, c10::string_view approximate) {
  TORCH_CHECK(approximate == "none" || approximate == "tanh",
              "gelu: found approximate=", approximate, ", wanted none or tanh");
  return pointwise({self});
}

// Integers become the default float.
Tensor logit(const Tensor& self, std::optional<double>) {
  if (!at::isIntegralType(self.scalar_type(), /*includeBool=*/true)) return pointwise({self});
  return pointwise({self}, c10::typeMetaToScalarType(at::get_default_dtype()));
}

// The CPU kernel keeps a buffer for backward; the CUDA kernel recomputes and leaves it empty.
Two log_sigmoid(const Tensor& self) { return {at::empty_like(self), fresh({0}, self)}; }

Tensor log_sigmoid_backward(const Tensor& grad_output, const Tensor&, const Tensor&) {
  return at::empty_like(grad_output);
}

Tensor prelu(const Tensor& self, const Tensor&) { return at::empty_like(self); }

Two prelu_backward(const Tensor& grad_output, const Tensor& self, const Tensor& weight) {
  const auto gradient = [&] { return pointwise({self, weight, grad_output}); };
  return {gradient(), gradient()};
}

Tensor glu_backward(const Tensor&, const Tensor& self, int64_t) { return contiguous_like(self); }

/// Forward-mode derivatives (native/GatedLinearUnit.cpp): of the result, and of its gradient.
Tensor glu_jvp(const Tensor& result, const Tensor&, const Tensor&, int64_t) {
  return at::empty_like(result);
}

Tensor glu_backward_jvp(const Tensor& gradient, const Tensor&, const Tensor&, const Tensor&,
                        const Tensor&, int64_t) {
  return at::empty_like(gradient);
}

Tensor leaky_with_noise(const Tensor& self, Tensor&, const Scalar&, const Scalar&, bool,
                        std::optional<at::Generator>) {
  return contiguous_like(self);
}

}  // namespace

void register_activation(torch::Library& library) {
  library.impl("relu", &unary<>);
  library.impl("gelu", &gelu);
  library.impl("hardswish", &unary<>);
  library.impl("hardswish_backward", &binary<>);
  library.impl("hardtanh", &unary<const Scalar&, const Scalar&>);
  library.impl("hardtanh_backward", &binary<const Scalar&, const Scalar&>);
  library.impl("logit", &logit);
  library.impl("mish_backward", &binary<>);
  library.impl("log_sigmoid_forward", &log_sigmoid);
  library.impl("log_sigmoid_backward", &log_sigmoid_backward);
  library.impl("_prelu_kernel", &prelu);
  library.impl("_prelu_kernel_backward", &prelu_backward);
  library.impl("glu_backward", &glu_backward);
  library.impl("glu_jvp", &glu_jvp);
  library.impl("glu_backward_jvp", &glu_backward_jvp);
  library.impl("rrelu_with_noise", &leaky_with_noise);
}

}  // namespace symprof::kernels
