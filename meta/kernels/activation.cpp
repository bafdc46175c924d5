// Activations and their gradients: elementwise.
#include <ATen/ATen.h>
#include <torch/library.h>

#include "meta/kernels/allocation.h"
#include "meta/kernels/families.h"
#include "meta/kernels/pointwise.h"

namespace symprof::kernels {
namespace {

using at::Scalar;
using at::Tensor;

Tensor unary(const Tensor& self) { return pointwise({self}); }

Tensor binary(const Tensor& self, const Tensor& other) { return pointwise({self, other}); }

}  // namespace

void register_activation(torch::Library& library) {
  library.impl("relu", &unary);
  library.impl("hardswish", &unary);
  library.impl("hardswish_backward", &binary);
}

}  // namespace symprof::kernels
