// Whose kernels a convolution runs on.
#pragma once

#include "base/tensor_spec.h"
#include "profile/cost/call.h"

namespace symprof::profile {

/// Positions of a convolution's arguments in a schema; `transposed` -1: it has no such argument.
struct ConvolutionSettingsAt {
  int stride = 3, dilation = 5, transposed = 6, groups = 8;
};

/// Whether PyTorch's own kernels run it, not cuDNN's: one filter or several for each channel, in
/// rows. cuDNN has them in other layouts, and of half precision those that a table names.
bool is_native_depthwise(const Call& call, const ConvolutionSettingsAt& at, const TensorSpec& input,
                         const TensorSpec& weight);

}  // namespace symprof::profile
