#include "profile/cost/row_major.h"

#include <cstddef>
#include <cstdint>

namespace symprof::profile {

bool is_row_major(const TensorSpec& tensor) {
  std::int64_t wanted = 1;
  for (std::size_t i = tensor.sizes.size(); i-- > 0;) {
    if (tensor.sizes[i] == 1) continue;
    if (tensor.strides[i] != wanted) return tensor.numel() == 0;
    wanted *= tensor.sizes[i];
  }
  return true;
}

}  // namespace symprof::profile
