#include "plan/largest_size.h"

#include <algorithm>

namespace symprof::plan {

LargestSize find_largest_size(std::int64_t start, std::optional<std::int64_t> most,
                              const std::function<bool(std::int64_t)>& fits) {
  const std::int64_t limit = std::max<std::int64_t>(most.value_or(std::int64_t{1} << 40), 1);
  LargestSize result;
  const auto try_size = [&](std::int64_t size) {
    ++result.trials;
    const bool has_room = fits(size);
    (has_room ? result.fits : result.refused) = size;
    return has_room;
  };
  std::int64_t size = std::clamp<std::int64_t>(start, 1, limit);
  while (try_size(size) && size < limit) size = std::min(2 * size, limit);
  while (result.refused && *result.refused - result.fits.value_or(0) > 1)
    try_size((result.fits.value_or(0) + *result.refused) / 2);
  return result;
}

}  // namespace symprof::plan
