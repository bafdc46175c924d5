// Elementwise arithmetic without shape kernels in LibTorch, and the `out=` kernels that composite
// operators call (`abs` runs `abs.out`).
#include <ATen/ATen.h>
#include <ATen/ScalarOps.h>
#include <torch/library.h>

#include "meta/kernels/families.h"
#include "meta/kernels/out_variants.h"
#include "meta/kernels/pointwise.h"

namespace symprof::kernels {
namespace {

using at::Scalar;
using at::Tensor;

// A number that takes part in dtype promotion only by its category.
Tensor number(const Scalar& scalar, const Tensor& beside) {
  Tensor tensor = at::empty({}, beside.options().dtype(scalar.type()));
  tensor.unsafeGetTensorImpl()->set_wrapped_number(true);
  return tensor;
}

Tensor arithmetic_result(const Tensor& self, const Tensor& other) {
  return pointwise({self, other});
}

Tensor with_scalar(const Tensor& self, const Scalar& other) {
  return pointwise({self, number(other, self)});
}

Tensor scalar_first(const Scalar& self, const Tensor& other) {
  return pointwise({number(self, other), other});
}

Tensor reversed_subtraction(const Tensor& self, const Tensor& other, const Scalar&) {
  return pointwise({other, self});
}

Tensor is_nan(const Tensor& self) { return pointwise({self}, at::kBool); }

// Real for complex numbers, the default float for integers.
Tensor angle(const Tensor& self) {
  auto dtype = c10::toRealValueType(self.scalar_type());
  if (at::isIntegralType(dtype, /*includeBool=*/true)) {
    dtype = c10::typeMetaToScalarType(at::get_default_dtype());
  }
  return pointwise({self}, dtype);
}

constexpr const char* elementwise_out[] = {
    "abs.out",
    "angle.out",
    "bernoulli.out",
    "complex.out",
    "conj_physical.out",
    "floor_divide.out",
    "frexp.Tensor_out",
    "hardswish.out",
    "hardtanh.out",
    "hardtanh_backward.grad_input",
    "huber_loss_backward.out",
    "logical_and.out",
    "logical_not.out",
    "logical_or.out",
    "logical_xor.out",
    "logit.out",
    "mse_loss_backward.grad_input",
    "mvlgamma.out",
    "nan_to_num.out",
    "polar.out",
    "smooth_l1_loss_backward.grad_input",
};

}  // namespace

void register_arithmetic(torch::Library& library) {
  library.impl("floor_divide", &arithmetic_result);
  library.impl("__lshift__.Tensor", &arithmetic_result);
  library.impl("__rshift__.Tensor", &arithmetic_result);
  library.impl("__lshift__.Scalar", &with_scalar);
  library.impl("__rshift__.Scalar", &with_scalar);
  library.impl("remainder.Scalar_Tensor", &scalar_first);
  library.impl("rsub.Tensor", &reversed_subtraction);
  library.impl("isnan", &is_nan);
  library.impl("angle", &angle);
  for (const char* op : elementwise_out) {
    library.impl(op, torch::CppFunction::makeFromBoxedFunction<&elementwise_into>());
  }
}

}  // namespace symprof::kernels
