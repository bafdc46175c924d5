// How a tensor lies in memory, which decides whose kernels take it and what they copy.
#pragma once

#include "base/tensor_spec.h"

namespace symprof::profile {

/// at::Tensor::is_contiguous().
bool is_row_major(const TensorSpec& tensor);
/// Channels come last, in four or five dimensions (at::MemoryFormat::ChannelsLast and
/// ChannelsLast3d).
bool is_channels_last(const TensorSpec& tensor);
/// The same of a tensor that does not lie row by row as well, as one of few places or channels can:
/// where both are true PyTorch takes rows (at::Tensor::suggest_memory_format).
bool is_channels_last_alone(const TensorSpec& tensor);

}  // namespace symprof::profile
