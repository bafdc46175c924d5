#include "measure/timeline.h"

#include <algorithm>
#include <limits>

namespace symprof::measure {

void Timeline::begin_at_zero() {
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  for (const TimelineCall& call : calls) first = std::min(first, call.begin_ns);
  if (calls.empty())
    for (const TimelineWork& work : works) first = std::min(first, work.begin_ns);
  const auto shift = [first](auto& entry) {
    entry.begin_ns -= first;
    entry.end_ns -= first;
  };
  std::ranges::for_each(calls, shift);
  std::ranges::for_each(works, shift);
}

}  // namespace symprof::measure
