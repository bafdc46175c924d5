// Releases: free neighbors merge, entirely free segments return to the device.
#include <algorithm>
#include <limits>

#include "profile/memory/allocator/implementation.h"

namespace symprof::profile {

using Implementation = AllocatorImplementation;

/// Merges a free neighbor of the same kind into `block`. Returns the neighbor's bytes, or 0.
std::int64_t Implementation::merge(Block* block, Block* neighbor) {
  if (neighbor == nullptr || neighbor->is_allocated || neighbor->is_mapped != block->is_mapped)
    return 0;
  if (neighbor->is_mapped)
    neighbor->pool->free.erase(neighbor->as_free());
  else
    neighbor->pool->unmapped.erase(neighbor);
  const std::int64_t bytes = neighbor->bytes;
  if (block->previous == neighbor) {
    block->address = neighbor->address;
    link(neighbor->previous, block, block->next);
  } else {
    link(block->previous, block, neighbor->next);
  }
  block->bytes += bytes;
  arena_.kill(neighbor);
  return bytes;
}

// release_available_cached_blocks: the smallest block that is large enough, or several of the
// largest. Only unsplittable blocks count, so nothing is released without max_split_size.
bool Implementation::release_oversize_blocks(const Request& request) {
  const std::int64_t limit = settings_.max_split_size_bytes;
  if (limit == std::numeric_limits<std::int64_t>::max()) return false;
  const FreeBlocks& free = request.pool->free;
  const std::int64_t wanted = std::max(request.bytes, limit);
  const auto found = free.of_at_least(wanted);
  if (found != free.end() && found->block->segment == nullptr) {
    release_block(found->block);
    return true;
  }
  std::int64_t released = 0;
  std::vector<Block*> blocks = free.blocks();  // Releases change the list.
  std::ranges::reverse(blocks);
  for (Block* block : blocks) {
    if (released >= wanted || block->bytes < limit) break;
    if (block->bytes >= wanted || block->segment != nullptr) continue;
    released += block->bytes;
    release_block(block);
  }
  return released >= wanted;
}

// garbage_collect_cached_blocks: whole segments that are at least as old as the mean, until
// reserved memory is below the threshold.
void Implementation::collect_garbage() {
  const auto threshold = static_cast<std::int64_t>(settings_.garbage_collection_threshold *
                                                   static_cast<double>(*limit_bytes_));
  const std::int64_t excess = statistics.reserved_bytes.current - threshold;
  if (excess <= 0) return;
  std::int64_t total_age = 0, count = 0, reclaimed = 0;
  for (const auto& [stream, pools] : pools_)
    for (const Block* block : pools.large.free.blocks())
      if (!block->is_split()) {
        total_age += pools.large.age(*block);
        ++count;
      }
  for (bool progressed = true; reclaimed < excess && progressed && count > 0;) {
    const double mean_age = static_cast<double>(total_age) / static_cast<double>(count);
    progressed = false;
    for (auto& [stream, pools] : pools_)
      for (Block* block : pools.large.free.blocks()) {
        if (block->is_split() || block->segment != nullptr ||
            static_cast<double>(pools.large.age(*block)) < mean_age)
          continue;
        progressed = true;
        reclaimed += block->bytes;
        total_age -= pools.large.age(*block);
        --count;
        release_block(block);
      }
  }
}

void Implementation::release_unsplit_blocks(Pool& pool) {
  std::vector<Block*> expandable;  // Unmapping changes the set.
  for (Block* block : pool.free.blocks()) {
    if (block->segment != nullptr)
      expandable.push_back(block);
    else if (!block->is_split())
      release_block(block);
  }
  for (Block* block : expandable) unmap(block);
}

void Implementation::release_block(Block* block) {
  tell(AllocatorAction::segment_free, block->address, block->bytes);
  device_.release(block->bytes);
  --statistics.segments;
  ++statistics.device_frees;
  statistics.reserved_bytes.add(-block->bytes);
  block->pool->free.erase(block->as_free());
  arena_.kill(block);
}

}  // namespace symprof::profile
