// Fused dropout (native/cuda/Dropout.cu): the mask is one byte per element.
#include <ATen/ATen.h>
#include <torch/library.h>

#include "meta/kernels/allocation.h"
#include "meta/kernels/families.h"

namespace symprof::kernels {
namespace {

using at::Tensor;

std::tuple<Tensor, Tensor> dropout(const Tensor& input, double, std::optional<bool>) {
  return {at::empty_like(input), at::empty_like(input, input.options().dtype(at::kBool))};
}

Tensor dropout_backward(const Tensor& grad_output, const Tensor&, double) {
  TORCH_CHECK(at::isFloatingType(grad_output.scalar_type()), "native_dropout_backward: found a ",
              grad_output.scalar_type(), " gradient, wanted a floating-point one");
  return format_like(grad_output);
}

}  // namespace

void register_dropout(torch::Library& library) {
  library.impl("native_dropout", &dropout);
  library.impl("native_dropout_backward", &dropout_backward);
}

}  // namespace symprof::kernels
