#include "profile/cost/memory_format.h"

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

bool is_channels_last(const TensorSpec& tensor) {
  const std::size_t rank = tensor.sizes.size();
  if (rank != 4 && rank != 5) return false;
  std::int64_t wanted = 1;
  for (std::size_t place = 0; place < rank; ++place) {
    // From the fastest dimension: channels, spatial dimensions from last to first, batch.
    const std::size_t i = place == 0 ? 1 : place == rank - 1 ? 0 : rank - place;
    if (tensor.sizes[i] == 1) continue;
    if (tensor.strides[i] != wanted) return false;
    wanted *= tensor.sizes[i];
  }
  return true;
}

bool is_channels_last_alone(const TensorSpec& tensor) {
  return is_channels_last(tensor) && !is_row_major(tensor);
}

}  // namespace symprof::profile
