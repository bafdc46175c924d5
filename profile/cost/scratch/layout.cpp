#include "profile/cost/scratch/layout.h"

#include <optional>
#include <utility>

namespace symprof::profile {

TensorSpec row_major(DType dtype, std::vector<std::int64_t> sizes) {
  std::vector<std::int64_t> strides = contiguous_strides(sizes);
  return {.dtype = dtype, .sizes = std::move(sizes), .strides = std::move(strides)};
}

void broadcast(std::vector<std::int64_t>& sizes, const std::vector<std::int64_t>& with) {
  if (with.size() > sizes.size()) sizes.insert(sizes.begin(), with.size() - sizes.size(), 1);
  const std::size_t lead = sizes.size() - with.size();
  for (std::size_t i = 0; i < with.size(); ++i)
    if (with[i] != 1) sizes[lead + i] = with[i];
}

bool can_be_joined(const TensorSpec& tensor, std::size_t first) {
  std::optional<std::int64_t> wanted;
  for (std::size_t i = tensor.sizes.size(); i-- > first;) {
    if (tensor.sizes[i] == 1) continue;
    if (wanted && tensor.strides[i] != *wanted) return false;
    wanted = tensor.strides[i] * tensor.sizes[i];
  }
  return true;
}

bool is_uniform(const Call& call) {
  for (std::size_t i = 1; call.input(i) != nullptr; ++i)
    if (call.input(i)->dtype != call.input(0)->dtype) return false;
  return call.input(0) != nullptr;
}

}  // namespace symprof::profile
