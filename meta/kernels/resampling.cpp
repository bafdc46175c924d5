// Padding, grid sampling, patches: contiguous outputs (native/cuda/ReflectionPad.cu,
// ReplicationPadding.cu, GridSampler.cpp, Im2Col.cu, Col2Im.cu, UnfoldBackwardKernel.cu).
#include <ATen/ATen.h>
#include <torch/library.h>

#include "meta/kernels/allocation.h"
#include "meta/kernels/families.h"

namespace symprof::kernels {
namespace {

using at::IntArrayRef;
using at::Tensor;
using Two = std::tuple<Tensor, Tensor>;

// `padding` lists (before, after) pairs from the last dimension on.
Tensor padded(const Tensor& self, IntArrayRef padding) {
  auto sizes = self.sizes().vec();
  for (std::size_t i = 0; i < padding.size(); ++i) {
    sizes[sizes.size() - 1 - i / 2] += padding[i];
  }
  return fresh(sizes, self);
}

Tensor padding_backward(const Tensor&, const Tensor& self, IntArrayRef) {
  return contiguous_like(self);
}

// Input [N, C, ...], grid [N, ..., coordinates].
Tensor sample_grid(const Tensor& input, const Tensor& grid, int64_t, int64_t, bool) {
  std::vector<int64_t> sizes{input.size(0), input.size(1)};
  for (int64_t dim = 1; dim + 1 < grid.dim(); ++dim) sizes.push_back(grid.size(dim));
  return fresh(sizes, input);
}

Two grid_sampler_backward(const Tensor&, const Tensor& input, const Tensor& grid, int64_t, int64_t,
                          bool, std::array<bool, 2> wanted) {
  return {wanted[0] ? contiguous_like(input) : Tensor(), contiguous_like(grid)};
}

Tensor cudnn_grid_sampler(const Tensor& input, const Tensor& grid) {
  return sample_grid(input, grid, 0, 0, false);
}

Two cudnn_grid_sampler_backward(const Tensor& input, const Tensor& grid, const Tensor&) {
  return {contiguous_like(input), contiguous_like(grid)};
}

// Image [N, C, H, W] or [C, H, W] to columns [N, C·kh·kw, positions].
Tensor image_to_columns(const Tensor& self, IntArrayRef kernel, IntArrayRef dilation,
                        IntArrayRef padding, IntArrayRef stride) {
  TORCH_CHECK(self.dim() == 3 || self.dim() == 4, "im2col: found an input of size ", self.sizes(),
              ", wanted 3 or 4 dimensions");
  int64_t positions = 1;
  for (int64_t i = 0; i < 2; ++i) {
    const int64_t reach = dilation[i] * (kernel[i] - 1) + 1;
    positions *= (self.size(i - 2) + 2 * padding[i] - reach) / stride[i] + 1;
  }
  const int64_t rows = self.size(-3) * kernel[0] * kernel[1];
  return self.dim() == 3 ? fresh({rows, positions}, self)
                         : fresh({self.size(0), rows, positions}, self);
}

Tensor columns_to_image(const Tensor& self, IntArrayRef output_size, IntArrayRef kernel,
                        IntArrayRef, IntArrayRef, IntArrayRef) {
  const int64_t channels = self.size(-2) / (kernel[0] * kernel[1]);
  return self.dim() == 2 ? fresh({channels, output_size[0], output_size[1]}, self)
                         : fresh({self.size(0), channels, output_size[0], output_size[1]}, self);
}

Tensor unfold_backward(const Tensor& grad, IntArrayRef input_sizes, int64_t, int64_t, int64_t) {
  return fresh(input_sizes, grad);
}

// One input point per output point (native/cudnn/AffineGridGenerator.cpp).
Tensor affine_grid(const Tensor& theta, int64_t count, int64_t, int64_t height, int64_t width) {
  return fresh({count, height, width, 2}, theta);
}

Tensor affine_grid_backward(const Tensor& grad, int64_t count, int64_t, int64_t, int64_t) {
  return fresh({count, 2, 3}, grad);
}

// math_channel_shuffle, CUDA's path, copies into a contiguous tensor.
Tensor channel_shuffle(const Tensor& self, int64_t) { return contiguous_like(self); }

}  // namespace

void register_resampling(torch::Library& library) {
  library.impl("reflection_pad2d", &padded);
  for (const char* op :
       {"reflection_pad2d_backward", "replication_pad2d_backward", "replication_pad3d_backward"}) {
    library.impl(op, &padding_backward);
  }
  for (const char* op : {"grid_sampler_2d", "grid_sampler_3d"}) library.impl(op, &sample_grid);
  for (const char* op : {"grid_sampler_2d_backward", "grid_sampler_3d_backward"}) {
    library.impl(op, &grid_sampler_backward);
  }
  library.impl("cudnn_grid_sampler", &cudnn_grid_sampler);
  library.impl("cudnn_grid_sampler_backward", &cudnn_grid_sampler_backward);
  library.impl("cudnn_affine_grid_generator", &affine_grid);
  library.impl("cudnn_affine_grid_generator_backward", &affine_grid_backward);
  library.impl("im2col", &image_to_columns);
  library.impl("col2im", &columns_to_image);
  library.impl("unfold_backward", &unfold_backward);
  library.impl("channel_shuffle", &channel_shuffle);
}

}  // namespace symprof::kernels
