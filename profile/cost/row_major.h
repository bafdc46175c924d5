// Whether a tensor lies in rows, which decides whose kernels take it and what they copy.
#pragma once

#include "base/tensor_spec.h"

namespace symprof::profile {

/// at::Tensor::is_contiguous().
bool is_row_major(const TensorSpec& tensor);

}  // namespace symprof::profile
