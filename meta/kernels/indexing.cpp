// Selection by masks and indices, and rearrangements that copy (native/TensorCompare.cpp,
// native/TensorTransformations.cpp, native/cuda/Indexing.cu, TensorTransformations.cu,
// Bucketization.cu).
#include <ATen/ATen.h>
#include <ATen/ExpandUtils.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/native/TensorFactories.h>
#include <torch/library.h>

#include "meta/fake/known_values.h"
#include "meta/kernels/allocation.h"
#include "meta/kernels/families.h"
#include "meta/kernels/pointwise.h"
#include "meta/kernels/unbacked_size.h"

namespace symprof::kernels {
namespace {

using at::IntArrayRef;
using at::Scalar;
using at::Tensor;
using std::optional;

Tensor where(const Tensor& condition, const Tensor& self, const Tensor& other) {
  return pointwise({condition, self, other}, at::result_type(self, other));
}

Tensor& where_into(const Tensor& condition, const Tensor& self, const Tensor& other, Tensor& out) {
  return pointwise_into({condition, self, other}, out);
}

std::vector<int64_t> selected_sizes(const Tensor& self, int64_t dim, const Tensor& index) {
  TORCH_CHECK_INDEX(index.dim() <= 1, "index_select: found an index of size ", index.sizes(),
                    ", wanted a vector");
  auto sizes = self.sizes().vec();
  const int64_t wrapped = at::maybe_wrap_dim(dim, self.dim());
  if (self.dim() > 0) sizes[wrapped] = index.numel();
  return sizes;
}

Tensor index_select(const Tensor& self, int64_t dim, const Tensor& index) {
  return fresh(selected_sizes(self, dim, index), self);
}

Tensor& index_select_into(const Tensor& self, int64_t dim, const Tensor& index, Tensor& out) {
  return resize_into(out, selected_sizes(self, dim, index));
}

Tensor take(const Tensor& self, const Tensor& index) { return fresh(index.sizes(), self); }

Tensor flip(const Tensor& self, IntArrayRef) { return at::empty_like(self); }

Tensor roll(const Tensor& self, IntArrayRef shifts, IntArrayRef dims) {
  TORCH_CHECK(shifts.size() == dims.size() || (dims.empty() && shifts.size() == 1), "roll: found ",
              shifts.size(), " shifts for ", dims.size(), " dimensions, wanted as many");
  for (const int64_t dim : dims)
    at::maybe_wrap_dim(dim, self.dim());  // Throws for an invalid dimension.
  return contiguous_like(self);
}

// ---- In place under a mask, which broadcasts to `self`

void check_mask(const char* op, const Tensor& self, const Tensor& mask) {
  TORCH_CHECK(mask.scalar_type() == at::kBool, op, ": found a ", mask.scalar_type(),
              " mask, wanted a boolean one");
  TORCH_CHECK(at::infer_size(self.sizes(), mask.sizes()) == self.sizes(), op,
              ": found a mask of size ", mask.sizes(), " for a tensor of size ", self.sizes());
}

Tensor& masked_fill(Tensor& self, const Tensor& mask, const Scalar& value) {
  check_mask("masked_fill_", self, mask);
  TORCH_CHECK(self.is_complex() || !value.isComplex(),
              "masked_fill_: found a complex value for a tensor of ", self.scalar_type());
  return self;
}

Tensor& masked_fill_tensor(Tensor& self, const Tensor& mask, const Tensor& value) {
  check_mask("masked_fill_", self, mask);
  TORCH_CHECK(value.dim() == 0, "masked_fill_: found a value of size ", value.sizes(),
              ", wanted one without dimensions");
  TORCH_CHECK(self.is_complex() || !value.is_complex(),
              "masked_fill_: found a complex value for a tensor of ", self.scalar_type());
  return self;
}

Tensor& masked_scatter(Tensor& self, const Tensor& mask, const Tensor& source) {
  check_mask("masked_scatter_", self, mask);
  TORCH_CHECK(self.scalar_type() == source.scalar_type(), "masked_scatter_: found a source of ",
              source.scalar_type(), ", wanted ", self.scalar_type());
  return self;
}

// One column per dimension, as nonzero on CUDA.
Tensor nonzero_static(const Tensor& self, int64_t size, int64_t) {
  return fresh({self.dim(), size}, self, at::kLong).t();
}

Tensor masked_scatter_backward(const Tensor& grad_output, const Tensor&, IntArrayRef sizes) {
  return fresh(sizes, grad_output);
}

// The size is the sum of the repeats, unless the caller gives it.
Tensor repeat_interleave(const Tensor& repeats, optional<int64_t> output_size) {
  if (output_size) return fresh({*output_size}, repeats);
  const auto values = meta::assumed_values(repeats);
  const auto sum = values ? std::optional(values->sum(at::kLong).item<int64_t>()) : std::nullopt;
  return fresh({unbacked_size("aten::repeat_interleave.Tensor", std::nullopt, sum)}, repeats);
}

at::ScalarType bucket_dtype(bool narrow) { return narrow ? at::kInt : at::kLong; }

Tensor searchsorted(const Tensor&, const Tensor& self, bool out_int32, bool,
                    optional<c10::string_view>, const optional<Tensor>&) {
  return fresh(self.sizes(), self, bucket_dtype(out_int32));
}

Tensor searchsorted_scalar(const Tensor& sorted, const Scalar&, bool out_int32, bool,
                           optional<c10::string_view>, const optional<Tensor>&) {
  return fresh({}, sorted, bucket_dtype(out_int32));
}

Tensor bucketize(const Tensor& self, const Tensor&, bool out_int32, bool) {
  return fresh(self.sizes(), self, bucket_dtype(out_int32));
}

Tensor bucketize_scalar(const Scalar&, const Tensor& boundaries, bool out_int32, bool) {
  return fresh({}, boundaries, bucket_dtype(out_int32));
}

// Coordinates of a triangular matrix: [2, count].
Tensor triangle(int64_t count, optional<at::ScalarType> dtype) {
  return at::empty({2, count}, at::TensorOptions(at::kMeta).dtype(dtype.value_or(at::kLong)));
}

Tensor lower_triangle(int64_t rows, int64_t columns, int64_t offset, optional<at::ScalarType> dtype,
                      optional<at::Layout>, optional<at::Device>, optional<bool>) {
  return triangle(at::native::get_tril_size(rows, columns, offset), dtype);
}

Tensor upper_triangle(int64_t rows, int64_t columns, int64_t offset, optional<at::ScalarType> dtype,
                      optional<at::Layout>, optional<at::Device>, optional<bool>) {
  const int64_t below = at::native::get_tril_size(rows, columns, offset - 1);
  return triangle(rows * columns - below, dtype);
}

bool is_set_to(const Tensor& self, const Tensor& other) {
  return self.storage().unsafeGetStorageImpl() == other.storage().unsafeGetStorageImpl() &&
         self.storage_offset() == other.storage_offset() && self.sizes() == other.sizes() &&
         self.strides() == other.strides();
}

void assert_async(const Tensor&) {}

void assert_async_with_message(const Tensor&, c10::string_view) {}

}  // namespace

void register_indexing(torch::Library& library) {
  library.impl("where.self", &where);
  library.impl("where.self_out", &where_into);
  library.impl("index_select", &index_select);
  library.impl("index_select.out", &index_select_into);
  library.impl("take", &take);
  library.impl("flip", &flip);
  library.impl("roll", &roll);
  library.impl("masked_fill_.Scalar", &masked_fill);
  library.impl("masked_fill_.Tensor", &masked_fill_tensor);
  library.impl("masked_scatter_", &masked_scatter);
  library.impl("nonzero_static", &nonzero_static);
  library.impl("masked_scatter_backward", &masked_scatter_backward);
  library.impl("repeat_interleave.Tensor", &repeat_interleave);
  library.impl("searchsorted.Tensor", &searchsorted);
  library.impl("searchsorted.Scalar", &searchsorted_scalar);
  library.impl("bucketize.Tensor", &bucketize);
  library.impl("bucketize.Scalar", &bucketize_scalar);
  library.impl("tril_indices", &lower_triangle);
  library.impl("triu_indices", &upper_triangle);
  library.impl("is_set_to", &is_set_to);
  library.impl("_assert_async", &assert_async);
  library.impl("_assert_async.msg", &assert_async_with_message);
}

}  // namespace symprof::kernels
