// Reductions and scans: contiguous outputs of the reduced sizes (native/ReduceOps.cpp, Sorting.cpp,
// native/cuda/Sorting.cpp, TensorModeKernel.cpp).
#include <ATen/ATen.h>
#include <ATen/WrapDimUtilsMulti.h>
#include <torch/library.h>

#include "meta/kernels/allocation.h"
#include "meta/kernels/families.h"
#include "meta/kernels/pointwise.h"

namespace symprof::kernels {
namespace {

using at::OptionalIntArrayRef;
using at::Scalar;
using at::Tensor;
using std::optional;
using Two = std::tuple<Tensor, Tensor>;

// No list and an empty list both mean every dimension.
std::vector<int64_t> reduced_sizes(const Tensor& self, OptionalIntArrayRef dims, bool keepdim) {
  const auto reduced = at::dim_list_to_bitset(
      dims.has_value() && !dims->empty() ? dims : OptionalIntArrayRef(), self.dim());
  std::vector<int64_t> sizes;
  for (int64_t dim = 0; dim < self.dim(); ++dim) {
    if (!reduced[dim]) sizes.push_back(self.size(dim));
    if (reduced[dim] && keepdim) sizes.push_back(1);
  }
  return sizes;
}

std::vector<int64_t> reduced_sizes(const Tensor& self, int64_t dim, bool keepdim) {
  return self.dim() == 0 ? std::vector<int64_t>{}
                         : reduced_sizes(self, at::IntArrayRef(&dim, 1), keepdim);
}

Tensor scalar_like(const Tensor& self) { return fresh({}, self); }

// Sums and products of integers are int64.
at::ScalarType accumulated(const Tensor& self, optional<at::ScalarType> dtype) {
  if (dtype.has_value()) return *dtype;
  return at::isIntegralType(self.scalar_type(), /*includeBool=*/true) ? at::kLong
                                                                      : self.scalar_type();
}

Tensor prod(const Tensor& self, optional<at::ScalarType> dtype) {
  return fresh({}, self, accumulated(self, dtype));
}

Tensor nansum(const Tensor& self, OptionalIntArrayRef dims, bool keepdim,
              optional<at::ScalarType> dtype) {
  return fresh(reduced_sizes(self, dims, keepdim), self, accumulated(self, dtype));
}

// The standard deviation of complex numbers is real.
Tensor spread(const Tensor& self, OptionalIntArrayRef dims, const optional<Scalar>&, bool keepdim) {
  return fresh(reduced_sizes(self, dims, keepdim), self, c10::toRealValueType(self.scalar_type()));
}

Two spread_and_mean(const Tensor& self, OptionalIntArrayRef dims,
                    const optional<Scalar>& correction, bool keepdim) {
  return {spread(self, dims, correction, keepdim), fresh(reduced_sizes(self, dims, keepdim), self)};
}

Two extrema(const Tensor& self) { return {fresh({}, self), fresh({}, self)}; }

Two extrema_along(const Tensor& self, int64_t dim, bool keepdim) {
  const auto sizes = reduced_sizes(self, dim, keepdim);
  return {fresh(sizes, self), fresh(sizes, self)};
}

Two mode(const Tensor& self, int64_t dim, bool keepdim) {
  const auto sizes = reduced_sizes(self, dim, keepdim);
  return {fresh(sizes, self), fresh(sizes, self, at::kLong)};
}

std::tuple<Tensor&, Tensor&> select_into(const Tensor& self, int64_t dim, bool keepdim,
                                         Tensor& values, Tensor& indices) {
  const auto sizes = reduced_sizes(self, dim, keepdim);
  return {resize_into(values, sizes), resize_into(indices, sizes)};
}

std::tuple<Tensor&, Tensor&> kth_value_into(const Tensor& self, int64_t k, int64_t dim,
                                            bool keepdim, Tensor& values, Tensor& indices) {
  const int64_t count = self.dim() == 0 ? 1 : self.size(dim);
  TORCH_CHECK(k >= 1 && k <= count, "kthvalue(): found k=", k, ", wanted 1 to ", count,
              ", the size of dimension ", dim);
  return select_into(self, dim, keepdim, values, indices);
}

Tensor count_nonzero(const Tensor& self, at::IntArrayRef dims) {
  return fresh(reduced_sizes(self, dims, /*keepdim=*/false), self, at::kLong);
}

Tensor cumulative_log_sum(const Tensor& self, int64_t dim) {
  at::maybe_wrap_dim(dim, self.dim());  // Throws for an invalid dimension.
  return contiguous_like(self);
}

// Writes to tensors allocated by its caller.
void cumulative_extremum(const Tensor&, Tensor&, Tensor&, int64_t) {}

Tensor histogram_counts(const Tensor& self, int64_t bins, const Scalar&, const Scalar&) {
  return fresh({bins}, self);
}

// Reduces rows of `data` along `axis` to one row per segment; segments are given by lengths or by
// offsets (native/SegmentReduce.cpp).
Tensor segment_reduce(const Tensor& data, c10::string_view, const optional<Tensor>& lengths,
                      const optional<Tensor>&, const optional<Tensor>& offsets, int64_t axis, bool,
                      const optional<Scalar>&) {
  TORCH_CHECK(present(lengths) || present(offsets),
              "segment_reduce: found neither lengths nor offsets, wanted one of them");
  const Tensor& segments = present(lengths) ? *lengths : *offsets;
  const int64_t dim = at::maybe_wrap_dim(axis, data.dim());
  TORCH_CHECK(dim == segments.dim() - 1 && segments.dim() <= data.dim(), "segment_reduce: found ",
              segments.dim(), " dimensions of segments for axis ", dim, ", wanted ", dim + 1);
  auto sizes = data.sizes().vec();
  sizes[dim] = segments.size(dim) - (present(lengths) ? 0 : 1);
  return fresh(sizes, data);
}

Tensor segment_reduce_backward(const Tensor& grad, const Tensor&, const Tensor& data,
                               c10::string_view, const optional<Tensor>&, const optional<Tensor>&,
                               int64_t, const optional<Scalar>&) {
  return fresh(data.sizes(), grad);
}

}  // namespace

void register_reduction(torch::Library& library) {
  for (const char* op : {"max", "min", "median", "nanmedian"}) library.impl(op, &scalar_like);
  for (const char* op : {"std.correction", "var.correction"}) library.impl(op, &spread);
  for (const char* op : {"std_mean.correction", "var_mean.correction"}) {
    library.impl(op, &spread_and_mean);
  }
  for (const char* op : {"median.dim_values", "nanmedian.dim_values", "mode.values"}) {
    library.impl(op, &select_into);
  }
  for (const char* op : {"_cummax_helper", "_cummin_helper"})
    library.impl(op, &cumulative_extremum);
  library.impl("prod", &prod);
  library.impl("nansum", &nansum);
  library.impl("_aminmax", &extrema);
  library.impl("_aminmax.dim", &extrema_along);
  library.impl("mode", &mode);
  library.impl("kthvalue.values", &kth_value_into);
  library.impl("count_nonzero.dim_IntList", &count_nonzero);
  library.impl("_logcumsumexp", &cumulative_log_sum);
  library.impl("histc", &histogram_counts);
  library.impl("segment_reduce", &segment_reduce);
  library.impl("_segment_reduce_backward", &segment_reduce_backward);
}

}  // namespace symprof::kernels
