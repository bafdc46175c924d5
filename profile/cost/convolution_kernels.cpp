#include "profile/cost/convolution_kernels.h"

#include "profile/cost/row_major.h"

namespace symprof::profile {

bool is_native_depthwise(const TensorSpec& input, const TensorSpec& weight, bool is_transposed,
                         std::int64_t groups) {
  return !is_transposed && groups > 1 && input.sizes.size() >= 3 && input.sizes[1] == groups &&
         weight.sizes[0] % groups == 0 && input.dtype != DType::float16 && is_row_major(input) &&
         is_row_major(weight);
}

}  // namespace symprof::profile
