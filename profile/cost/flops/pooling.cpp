// Pooling: one comparison or sum for each element of each window, padding included.
#include "profile/cost/flops/families.h"
#include "profile/cost/flops/streaming.h"

namespace symprof::profile {
namespace {

/// Elements of a window of `dims` dimensions whose sizes are argument `position`; a single size is
/// used for every dimension.
Count window(const Call& call, int position, int dims) {
  const std::int64_t first = call.integer(position, 0, 1);
  Count size = first;
  for (int i = 1; i < dims; ++i) size *= call.integer(position, i, first);
  return size;
}

/// pool(self, kernel_size, ...)
template <int dims>
Estimate pool(const Call& call) {
  const TensorSpec* out = call.output(0);
  if (!out) return std::nullopt;
  return streaming(call, {.other = window(call, 1, dims) * elements(*out)});
}

/// avg_pool_backward(grad_output, self, kernel_size, ...): each gradient goes to its whole window.
template <int dims>
Estimate average_backward(const Call& call) {
  const TensorSpec* gradient = call.input_at(0);
  if (!gradient) return std::nullopt;
  return streaming(call, {.other = window(call, 2, dims) * elements(*gradient)});
}

constexpr Rule pooling_rows[] = {
    {"aten::max_pool1d_with_indices", pool<1>, modelled},
    {"aten::max_pool2d_with_indices", pool<2>, modelled},
    {"aten::max_pool3d_with_indices", pool<3>, modelled},
    {"aten::max_pool1d", pool<1>, modelled},
    {"aten::max_pool2d", pool<2>, modelled},
    {"aten::max_pool3d", pool<3>, modelled},
    // Each gradient is added to the element that was the maximum.
    {"aten::max_pool2d_with_indices_backward", per_input<1>, modelled},
    {"aten::max_pool3d_with_indices_backward", per_input<1>, modelled},
    {"aten::avg_pool1d", pool<1>, modelled},
    {"aten::avg_pool2d", pool<2>, modelled},
    {"aten::avg_pool3d", pool<3>, modelled},
    {"aten::avg_pool2d_backward", average_backward<2>, modelled},
    {"aten::avg_pool3d_backward", average_backward<3>, modelled},
    // The windows of adaptive pooling cover the input about once.
    {"aten::adaptive_avg_pool2d", per_input<1>, modelled},
    {"aten::adaptive_avg_pool3d", per_input<1>, modelled},
    {"aten::_adaptive_avg_pool2d", per_input<1>, modelled},
    {"aten::_adaptive_avg_pool3d", per_input<1>, modelled},
    {"aten::_adaptive_avg_pool2d_backward", per_output<1>, modelled},
    {"aten::_adaptive_avg_pool3d_backward", per_output<1>, modelled},
    {"aten::adaptive_avg_pool3d_backward", per_output<1>, modelled},
    {"aten::adaptive_max_pool2d", per_input<1>, modelled},
    {"aten::adaptive_max_pool3d", per_input<1>, modelled},
    {"aten::adaptive_max_pool2d_backward", per_input<1>, modelled},
    {"aten::adaptive_max_pool3d_backward", per_input<1>, modelled},
    {"aten::fractional_max_pool2d", pool<2>, modelled},
    {"aten::fractional_max_pool3d", pool<3>, modelled},
    {"aten::fractional_max_pool2d_backward", per_input<1>, modelled},
    {"aten::fractional_max_pool3d_backward", per_input<1>, modelled},
    {"aten::max_unpool2d", moves},
    {"aten::max_unpool3d", moves},
};

}  // namespace

Rules pooling_rules() { return pooling_rows; }

}  // namespace symprof::profile
