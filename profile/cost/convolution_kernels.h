// Whose kernels a convolution runs on.
#pragma once

#include <cstdint>

#include "base/tensor_spec.h"

namespace symprof::profile {

/// Whether PyTorch's own kernels run it, not cuDNN's: one filter or several for each channel, in
/// rows. cuDNN has them in other layouts, and of half precision those that a table names
/// (use_cudnn_depthwise in native/Convolution.cpp).
bool is_native_depthwise(const TensorSpec& input, const TensorSpec& weight, bool is_transposed,
                         std::int64_t groups);

}  // namespace symprof::profile
