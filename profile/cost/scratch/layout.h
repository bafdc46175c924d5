// Layouts of tensors, for kernels that copy some of them.
#pragma once

#include "base/tensor_spec.h"
#include "profile/cost/call.h"
#include "profile/cost/memory_format.h"

namespace symprof::profile {

/// A contiguous tensor, the last dimension fastest.
TensorSpec row_major(DType dtype, std::vector<std::int64_t> sizes);
/// Sets `sizes` to the broadcast shape of `sizes` and `with` (at::infer_size).
void broadcast(std::vector<std::int64_t>& sizes, const std::vector<std::int64_t>& with);
/// True if a view can flatten all dimensions from `first` on (at::detail::computeStride).
bool can_be_joined(const TensorSpec& tensor, std::size_t first = 0);
/// True if all tensors have one dtype: such a list takes one kernel, others one kernel per tensor.
bool is_uniform(const Call& call);

}  // namespace symprof::profile
