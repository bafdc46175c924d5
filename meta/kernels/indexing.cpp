// Selection by masks and indices, and rearrangements that copy (native/TensorCompare.cpp,
// native/TensorTransformations.cpp, native/cuda/Indexing.cu, TensorTransformations.cu,
// Bucketization.cu).
#include <ATen/ATen.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/native/TensorFactories.h>
#include <torch/library.h>

#include "meta/kernels/allocation.h"
#include "meta/kernels/families.h"
#include "meta/kernels/pointwise.h"
#include "meta/kernels/unknown_size.h"

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

Tensor roll(const Tensor& self, IntArrayRef, IntArrayRef) { return contiguous_like(self); }

// One column per dimension, as nonzero on CUDA.
Tensor nonzero_static(const Tensor& self, int64_t size, int64_t) {
  return fresh({self.dim(), size}, self, at::kLong).t();
}

Tensor masked_scatter_backward(const Tensor& grad_output, const Tensor&, IntArrayRef sizes) {
  return fresh(sizes, grad_output);
}

// The sum of the repeats is the size, unless the caller knows it.
Tensor repeat_interleave(const Tensor& repeats, optional<int64_t> output_size) {
  const int64_t size =
      output_size ? *output_size : unknown_size("aten::repeat_interleave.Tensor", std::nullopt);
  return fresh({size}, repeats);
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

// Coordinates of a triangle: [2, count].
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
