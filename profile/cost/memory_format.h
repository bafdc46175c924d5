// Memory formats of tensors, which decide the kernels that run and the copies they make.
#pragma once

#include "base/tensor_spec.h"

namespace symprof::profile {

/// at::Tensor::is_contiguous().
bool is_row_major(const TensorSpec& tensor);
/// True if channels are last, in four or five dimensions (at::MemoryFormat::ChannelsLast and
/// ChannelsLast3d).
bool is_channels_last(const TensorSpec& tensor);
/// True if channels-last and not also row-major. A tensor with size-1 dimensions can be both;
/// PyTorch then treats it as row-major (at::Tensor::suggest_memory_format).
bool is_channels_last_alone(const TensorSpec& tensor);

}  // namespace symprof::profile
