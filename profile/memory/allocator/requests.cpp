// How a request finds a block: best fit among the free ones, else a new segment.
#include "profile/memory/allocator/implementation.h"

namespace symprof::profile {

using Implementation = AllocatorImplementation;

namespace {

/// Size that a free block can grow to, with the unmapped addresses after it.
std::int64_t expandable_size(const Block& block) {
  const Block* next = block.next;
  return block.bytes + (next != nullptr && !next->is_mapped ? next->bytes : 0);
}

}  // namespace

// get_free_block: only the first candidate is considered.
Block* Implementation::find_free_block(const Request& request) {
  Pool& pool = *request.pool;
  if (collects_garbage()) ++pool.searches;
  auto found = pool.free.of_at_least(request.bytes);
  if (found == pool.free.end()) return nullptr;
  if (found->block->segment != nullptr)
    for (auto next = found; ++next != pool.free.end() &&
                            expandable_size(*next->block) < expandable_size(*found->block);)
      found = next;
  Block* block = found->block;
  const std::int64_t limit = settings_.max_split_size_bytes;
  if (request.bytes < limit && block->bytes >= limit) return nullptr;
  if (request.bytes >= limit &&
      block->bytes >= request.bytes + settings_.max_non_split_rounding_bytes)
    return nullptr;
  pool.free.erase(found);
  return block;
}

// alloc_block. The limit counts a whole segment even if only pages are mapped.
Block* Implementation::take_new_block(const Request& request, bool is_retry) {
  if (is_retry) ++statistics.alloc_retries;
  const std::int64_t bytes = segment_size(request.bytes, settings_);
  if (limit_bytes_ && statistics.reserved_bytes.current + bytes > *limit_bytes_) return nullptr;
  return settings_.expandable_segments ? grow_expandable(request) : take_segment(request);
}

/// The number of a block created with its segment, or split from `whole`.
std::int64_t Implementation::next_number(const Block* whole) {
  switch (settings_.equal_blocks) {
    case EqualBlocks::oldest_segment:
      return whole != nullptr ? whole->number : ++last_number_;
    case EqualBlocks::oldest_block:
      return ++last_number_;
    case EqualBlocks::lowest_address:
      break;
  }
  return 0;
}

Block* Implementation::take_segment(const Request& request) {
  const std::int64_t bytes = segment_size(request.bytes, settings_);
  const std::optional<Address> address = device_.allocate(bytes);
  if (!address) return nullptr;
  ++statistics.segments;
  ++statistics.device_allocs;
  statistics.reserved_bytes.add(bytes);
  tell(AllocatorAction::segment_alloc, *address, bytes);
  return arena_.make(
      {.address = *address, .bytes = bytes, .pool = request.pool, .number = next_number(nullptr)});
}

bool Implementation::should_split(const Block& block, const Request& request) const {
  const std::int64_t remaining = block.bytes - request.bytes;
  if (block.pool->is_small || settings_.expandable_segments)
    return remaining >= smallest_block_bytes;
  return request.bytes < settings_.max_split_size_bytes && remaining > small_limit_bytes;
}

/// The request takes the low end; the rest stays free.
Block* Implementation::split(Block* rest, const Request& request) {
  Block* block = arena_.make({.address = rest->address,
                              .bytes = request.bytes,
                              .pool = rest->pool,
                              .segment = rest->segment,
                              .number = next_number(rest)});
  link(rest->previous, block, rest);
  rest->address += request.bytes;
  rest->bytes -= request.bytes;
  rest->pool->insert(rest);
  return block;
}

// alloc_found_block.
void Implementation::count_use(Block& block, bool was_split, bool is_first_part) {
  block.is_allocated = true;
  statistics.allocated_bytes.add(block.bytes);
  statistics.requested_bytes.add(block.requested_bytes);
  if (block.segment != nullptr) return;
  if (was_split)
    statistics.inactive_split_bytes.add(-block.bytes);
  else if (is_first_part)
    statistics.inactive_split_bytes.add(block.next->bytes);
}

}  // namespace symprof::profile
