#include "snapshot/layout.h"

#include <algorithm>
#include <iterator>

namespace symprof::snapshot {

Layout::Layout(const Settings& settings) {
  settings_.expandable_segments = settings.expandable_segments;
  if (settings.max_split_size_bytes)
    settings_.max_split_size_bytes = *settings.max_split_size_bytes;
  std::copy(settings.roundup_power2_divisions.begin(), settings.roundup_power2_divisions.end(),
            settings_.roundup_power2_divisions.begin());
}

void Layout::reserve(std::int64_t address, std::int64_t bytes, bool is_expandable) {
  ranges_[address] = {address + bytes, is_expandable};
}

// Pages of an expandable segment go one by one, so that a range may lose its middle.
void Layout::release(std::int64_t address, std::int64_t bytes) {
  const std::int64_t end = address + bytes;
  auto at = ranges_.upper_bound(address);
  if (at != ranges_.begin()) --at;
  while (at != ranges_.end() && at->first < end) {
    const auto [begin, range] = *at;
    if (range.end <= address) {
      ++at;
      continue;
    }
    at = ranges_.erase(at);
    if (begin < address) ranges_[begin] = {address, range.is_expandable};
    if (range.end > end) at = ranges_.insert_or_assign(end, range).first;
  }
}

void Layout::hold(std::int64_t address, std::int64_t bytes) {
  if (bytes > profile::small_limit_bytes) held_[address] = bytes;
}

std::int64_t Layout::free_behind(std::int64_t address, std::int64_t end) const {
  auto range = ranges_.upper_bound(address);
  if (range == ranges_.begin()) return 0;
  --range;
  if (range->second.is_expandable || range->second.end < end) return 0;
  const auto next = held_.upper_bound(address);
  const std::int64_t limit =
      next == held_.end() ? range->second.end : std::min(range->second.end, next->first);
  return std::max<std::int64_t>(limit - end, 0);
}

std::int64_t Layout::block_size(std::int64_t address, std::int64_t requested) const {
  const std::int64_t rounded = profile::rounded_size(requested, settings_);
  // Of the small pool, all that is left is split off: it is at least a block of 512 bytes.
  if (rounded <= profile::small_limit_bytes) return rounded;
  const std::int64_t left = free_behind(address, address + rounded);
  const bool is_split =
      rounded < settings_.max_split_size_bytes && left > profile::small_limit_bytes;
  return is_split ? rounded : rounded + left;
}

}  // namespace symprof::snapshot
