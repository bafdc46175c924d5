// Ranges with tensor bounds: the caller gives the number of elements (native/RangeFactories.cpp;
// `.item()` on the bounds affects values, not sizes).
#include <ATen/ATen.h>
#include <torch/library.h>

#include <type_traits>

#include "meta/kernels/families.h"
#include "meta/kernels/pointwise.h"

namespace symprof::kernels {
namespace {

using at::Scalar;
using at::Tensor;
using std::optional;

template <typename End>
bool is_complex(const End& end) {
  if constexpr (std::is_same_v<End, Tensor>) return at::isComplexType(end.scalar_type());
  if constexpr (std::is_same_v<End, Scalar>) return end.isComplex();
}

template <typename End>
void check_end(const End& end) {
  if constexpr (std::is_same_v<End, Tensor>)
    TORCH_CHECK(end.dim() == 0, "linspace: found an end of size ", end.sizes(),
                ", wanted a tensor without dimensions");
}

// Without a dtype: the default float, or its complex dtype if a bound is complex.
template <typename Start, typename End>
Tensor range(const Start& start, const End& end, int64_t steps, optional<at::ScalarType> dtype) {
  TORCH_CHECK(steps >= 0, "linspace: found ", steps, " steps, wanted 0 or more");
  check_end(start);
  check_end(end);
  const auto real = c10::typeMetaToScalarType(at::get_default_dtype());
  const auto inferred = is_complex(start) || is_complex(end) ? c10::toComplexType(real) : real;
  return at::empty({steps}, at::TensorOptions(at::kMeta).dtype(dtype.value_or(inferred)));
}

template <typename Start, typename End>
Tensor linear(const Start& start, const End& end, int64_t steps, optional<at::ScalarType> dtype,
              optional<at::Layout>, optional<at::Device>, optional<bool>) {
  return range(start, end, steps, dtype);
}

template <typename Start, typename End>
Tensor logarithmic(const Start& start, const End& end, int64_t steps, double,
                   optional<at::ScalarType> dtype, optional<at::Layout>, optional<at::Device>,
                   optional<bool>) {
  return range(start, end, steps, dtype);
}

template <typename Start, typename End>
Tensor& linear_into(const Start&, const End&, int64_t steps, Tensor& out) {
  return resize_into(out, {steps});
}

template <typename Start, typename End>
Tensor& logarithmic_into(const Start&, const End&, int64_t steps, double, Tensor& out) {
  return resize_into(out, {steps});
}

}  // namespace

void register_factory(torch::Library& library) {
  library.impl("linspace.Tensor_Tensor", &linear<Tensor, Tensor>);
  library.impl("linspace.Tensor_Scalar", &linear<Tensor, Scalar>);
  library.impl("linspace.Scalar_Tensor", &linear<Scalar, Tensor>);
  library.impl("linspace.Tensor_Tensor_out", &linear_into<Tensor, Tensor>);
  library.impl("linspace.Tensor_Scalar_out", &linear_into<Tensor, Scalar>);
  library.impl("linspace.Scalar_Tensor_out", &linear_into<Scalar, Tensor>);
  library.impl("logspace.Tensor_Tensor", &logarithmic<Tensor, Tensor>);
  library.impl("logspace.Tensor_Scalar", &logarithmic<Tensor, Scalar>);
  library.impl("logspace.Scalar_Tensor", &logarithmic<Scalar, Tensor>);
  library.impl("logspace.Tensor_Tensor_out", &logarithmic_into<Tensor, Tensor>);
  library.impl("logspace.Tensor_Scalar_out", &logarithmic_into<Tensor, Scalar>);
  library.impl("logspace.Scalar_Tensor_out", &logarithmic_into<Scalar, Tensor>);
}

}  // namespace symprof::kernels
