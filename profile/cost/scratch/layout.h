// How tensors lie in memory, as far as kernels ask before they copy one.
#pragma once

#include "base/tensor_spec.h"
#include "profile/cost/call.h"
#include "profile/cost/memory_format.h"

namespace symprof::profile {

/// A tensor whose elements lie one after the other, the last dimension fastest.
TensorSpec row_major(DType dtype, std::vector<std::int64_t> sizes);
/// Makes `sizes` the shape that they and `with` broadcast to (at::infer_size).
void broadcast(std::vector<std::int64_t>& sizes, const std::vector<std::int64_t>& with);
/// Whether a view can show all dimensions from `first` on as one (at::detail::computeStride).
bool can_be_joined(const TensorSpec& tensor, std::size_t first = 0);
/// Whether all tensors have one type: one kernel serves such a list, others go one by one.
bool is_uniform(const Call& call);

}  // namespace symprof::profile
