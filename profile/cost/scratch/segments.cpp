#include "profile/cost/scratch/segments.h"

#include "profile/cost/scratch/cub.h"

namespace symprof::profile {

void add_offsets(Scratch& result, const TensorSpec* lengths, const TensorSpec* offsets) {
  const TensorSpec& given = lengths != nullptr ? *lengths : *offsets;
  const std::int64_t last = given.sizes.back();
  const std::int64_t rows = last == 0 ? 0 : given.numel() / last;
  if (lengths == nullptr) {
    result.take(Count(rows) * (last - 1) * long_bytes);
    return;
  }
  const std::size_t zeros = result.take(Count(rows) * long_bytes);
  result.take(Count(rows) * (last + 1) * long_bytes);
  result.give_back(zeros);
  if (given.sizes.size() == 1) result.give_back(result.take(cub::scan_bytes(last + 1, long_bytes)));
}

bool has_segments(const TensorSpec* lengths, const TensorSpec* offsets) {
  const TensorSpec* given = lengths != nullptr ? lengths : offsets;
  return given != nullptr && !given->sizes.empty() && given->numel() > 0;
}

}  // namespace symprof::profile
