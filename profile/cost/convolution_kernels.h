// Which library's kernels a convolution runs on: PyTorch's own or cuDNN's.
#pragma once

#include "base/tensor_spec.h"
#include "profile/cost/call.h"

namespace symprof::profile {

/// Positions of a convolution's arguments in a schema; `transposed` is -1 if the schema has no such
/// argument.
struct ConvolutionSettingsAt {
  int stride = 3, dilation = 5, transposed = 6, groups = 8;
};

/// True if PyTorch's own depthwise kernels run the convolution instead of cuDNN's: one or several
/// filters per channel, row-major layout. cuDNN runs depthwise convolutions in other layouts, and
/// in half precision those that its table names.
bool is_native_depthwise(const Call& call, const ConvolutionSettingsAt& at, const TensorSpec& input,
                         const TensorSpec& weight);

}  // namespace symprof::profile
