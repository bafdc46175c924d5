// Busy time: the union of time ranges.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace symprof::measure {

/// Overlapping ranges count once. They must be added in order of their start.
class BusyTime {
 public:
  void add(std::int64_t begin_ns, std::int64_t end_ns) {
    ns_ += std::max<std::int64_t>(end_ns - std::max(until_, begin_ns), 0);
    until_ = std::max(until_, end_ns);
  }
  std::int64_t ns() const { return ns_; }

 private:
  std::int64_t ns_ = 0;
  std::int64_t until_ = std::numeric_limits<std::int64_t>::min();
};

}  // namespace symprof::measure
