// Convolution: output sizes, and the memory format of cuDNN's path (native/Convolution.cpp,
// native/ConvUtils.h). Depthwise and slow CUDA kernels are chosen only for contiguous tensors or
// f64, for which the rule below gives contiguous as well.
#include <ATen/ATen.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <torch/library.h>

#include "meta/kernels/allocation.h"
#include "meta/kernels/families.h"

namespace symprof::kernels {
namespace {

using at::IntArrayRef;
using at::Tensor;
using std::optional;
using Gradients = std::tuple<Tensor, Tensor, Tensor>;

struct Geometry {
  IntArrayRef stride, padding, dilation, output_padding;
  bool transposed = false;
  int64_t groups = 1;
};

// A list with one entry applies to all spatial dimensions (expand_param_if_needed).
int64_t entry(IntArrayRef list, int64_t dim) { return list.size() == 1 ? list[0] : list[dim]; }

std::vector<int64_t> output_sizes(const Tensor& input, const Tensor& weight, const Geometry& g) {
  TORCH_CHECK(input.dim() == weight.dim(), "convolution: found an input with ", input.dim(),
              " dimensions and a weight with ", weight.dim(), ", wanted the same number");
  const int64_t in_channels = g.transposed ? weight.size(0) : weight.size(1) * g.groups;
  TORCH_CHECK(input.size(1) == in_channels, "convolution: found an input of size ", input.sizes(),
              " and a weight of size ", weight.sizes(), " with groups=", g.groups, ", wanted ",
              in_channels, " input channels");
  std::vector<int64_t> sizes{input.size(0),
                             g.transposed ? weight.size(1) * g.groups : weight.size(0)};
  for (int64_t dim = 2; dim < input.dim(); ++dim) {
    const int64_t i = dim - 2;
    const int64_t reach = entry(g.dilation, i) * (weight.size(dim) - 1);
    const int64_t stride = entry(g.stride, i), padding = entry(g.padding, i);
    TORCH_CHECK(stride > 0, "convolution: found stride ", stride, ", wanted a positive one");
    TORCH_CHECK(entry(g.dilation, i) > 0, "convolution: found dilation ", entry(g.dilation, i),
                ", wanted a positive one");
    const int64_t size = g.transposed ? (input.size(dim) - 1) * stride - 2 * padding + reach +
                                            entry(g.output_padding, i) + 1
                                      : (input.size(dim) + 2 * padding - reach - 1) / stride + 1;
    TORCH_CHECK(input.size(dim) + 2 * padding > reach || g.transposed,
                "convolution: found a kernel larger than the padded input in dimension ", dim,
                " (input ", input.sizes(), ", weight ", weight.sizes(), ")");
    sizes.push_back(size);
  }
  return sizes;
}

// A 1-D convolution runs as a 2-D one with height 1 on a contiguous input.
Tensor as_image(const Tensor& tensor) { return tensor.dim() == 3 ? tensor.unsqueeze(2) : tensor; }

bool uses_cudnn(const Tensor& input, const Tensor& weight) {
  if (!at::globalContext().userEnabledCuDNN()) return false;
  if (input.scalar_type() == at::kDouble || weight.scalar_type() == at::kDouble) return false;
  const auto& hooks = at::detail::getCUDAHooks();
  return input.scalar_type() != at::kBFloat16 || !hooks.compiledWithCuDNN() ||
         hooks.supportsBFloat16ConvolutionWithCuDNNv8();
}

// cudnn_conv_suggest_memory_format: a channels-last input or weight is enough.
at::MemoryFormat output_format(const Tensor& input, const Tensor& weight) {
  if (!uses_cudnn(input, weight)) return at::MemoryFormat::Contiguous;
  const Tensor image = input.dim() == 3 ? contiguous_like(as_image(input)) : input;
  const auto of_input = image.suggest_memory_format();
  const auto of_weight = as_image(weight).suggest_memory_format();
  const auto wanted = image.dim() == 4   ? at::MemoryFormat::ChannelsLast
                      : image.dim() == 5 ? at::MemoryFormat::ChannelsLast3d
                                         : at::MemoryFormat::Contiguous;
  return of_input == wanted || of_weight == wanted ? wanted : at::MemoryFormat::Contiguous;
}

Tensor allocate(std::vector<int64_t> sizes, const Tensor& like, at::MemoryFormat format) {
  const bool one_dimensional = sizes.size() == 3;
  if (one_dimensional) sizes.insert(sizes.begin() + 2, 1);
  const Tensor result = fresh_in(sizes, like, format);
  return one_dimensional ? result.squeeze(2) : result;
}

Tensor forward(const Tensor& input, const Tensor& weight, const Geometry& geometry) {
  return allocate(output_sizes(input, weight, geometry), input, output_format(input, weight));
}

Tensor convolution(const Tensor& input, const Tensor& weight, const optional<Tensor>&,
                   IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, bool transposed,
                   IntArrayRef output_padding, int64_t groups) {
  return forward(input, weight, {stride, padding, dilation, output_padding, transposed, groups});
}

Tensor convolution_with_flags(const Tensor& input, const Tensor& weight, const optional<Tensor>&,
                              IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                              bool transposed, IntArrayRef output_padding, int64_t groups, bool,
                              bool, bool, bool) {
  return forward(input, weight, {stride, padding, dilation, output_padding, transposed, groups});
}

Tensor cudnn_convolution(const Tensor& input, const Tensor& weight, IntArrayRef padding,
                         IntArrayRef stride, IntArrayRef dilation, int64_t groups, bool, bool,
                         bool) {
  return forward(input, weight, {stride, padding, dilation, {}, false, groups});
}

Tensor cudnn_convolution_transpose(const Tensor& input, const Tensor& weight, IntArrayRef padding,
                                   IntArrayRef output_padding, IntArrayRef stride,
                                   IntArrayRef dilation, int64_t groups, bool, bool, bool) {
  return forward(input, weight, {stride, padding, dilation, output_padding, true, groups});
}

Tensor cudnn_convolution_relu(const Tensor& input, const Tensor& weight, const optional<Tensor>&,
                              IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                              int64_t groups) {
  return forward(input, weight, {stride, padding, dilation, {}, false, groups});
}

Tensor cudnn_convolution_add_relu(const Tensor& input, const Tensor& weight, const Tensor&,
                                  const optional<at::Scalar>&, const optional<Tensor>&,
                                  IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                                  int64_t groups) {
  return forward(input, weight, {stride, padding, dilation, {}, false, groups});
}

// Both gradients have the memory format of the forward pass; the output gradient's layout does not
// matter.
Gradients convolution_backward(const Tensor& grad_output, const Tensor& input, const Tensor& weight,
                               at::OptionalIntArrayRef, IntArrayRef, IntArrayRef, IntArrayRef, bool,
                               IntArrayRef, int64_t, std::array<bool, 3> wanted) {
  const auto format = output_format(input, weight);
  return {wanted[0] ? allocate(input.sizes().vec(), input, format) : Tensor(),
          wanted[1] ? allocate(weight.sizes().vec(), weight, format) : Tensor(),
          wanted[2] ? fresh({grad_output.size(1)}, grad_output) : Tensor()};
}

// The native CUDA kernels make input and weight contiguous and return a contiguous output.
Tensor native_convolution(const Tensor& input, const Tensor& weight, IntArrayRef,
                          const optional<Tensor>&, IntArrayRef stride, IntArrayRef padding,
                          IntArrayRef dilation) {
  const int64_t groups = input.size(1) / weight.size(1);
  return fresh(output_sizes(input, weight, {stride, padding, dilation, {}, false, groups}), input);
}

Tensor slow_convolution(const Tensor& input, const Tensor& weight, IntArrayRef kernel,
                        const optional<Tensor>& bias, IntArrayRef stride, IntArrayRef padding) {
  return native_convolution(input, weight, kernel, bias, stride, padding, {1});
}

Gradients slow_convolution_backward(const Tensor& grad_output, const Tensor& input,
                                    const Tensor& weight, IntArrayRef, IntArrayRef, IntArrayRef,
                                    std::array<bool, 3> wanted) {
  return {wanted[0] ? contiguous_like(input) : Tensor(),
          wanted[1] ? contiguous_like(weight) : Tensor(),
          wanted[2] ? fresh({grad_output.size(1)}, grad_output) : Tensor()};
}

Tensor slow_transposed_convolution(const Tensor& input, const Tensor& weight, IntArrayRef,
                                   const optional<Tensor>&, IntArrayRef stride, IntArrayRef padding,
                                   IntArrayRef output_padding, IntArrayRef dilation) {
  return fresh(output_sizes(input, weight, {stride, padding, dilation, output_padding, true, 1}),
               input);
}

}  // namespace

void register_convolution(torch::Library& library) {
  library.impl("convolution", &convolution);
  library.impl("convolution_overrideable", &convolution);
  library.impl("_convolution", &convolution_with_flags);
  library.impl("convolution_backward", &convolution_backward);
  library.impl("cudnn_convolution", &cudnn_convolution);
  library.impl("cudnn_convolution_transpose", &cudnn_convolution_transpose);
  library.impl("cudnn_convolution_relu", &cudnn_convolution_relu);
  library.impl("cudnn_convolution_add_relu", &cudnn_convolution_add_relu);
  library.impl("_conv_depthwise2d", &native_convolution);
  library.impl("conv_depthwise3d", &native_convolution);
  library.impl("slow_conv_dilated2d", &native_convolution);
  library.impl("slow_conv_dilated3d", &native_convolution);
  library.impl("slow_conv_transpose3d", &slow_transposed_convolution);
  library.impl("_slow_conv2d_forward", &slow_convolution);
  library.impl("slow_conv3d_forward", &slow_convolution);
  library.impl("_slow_conv2d_backward.output_mask", &slow_convolution_backward);
}

}  // namespace symprof::kernels
