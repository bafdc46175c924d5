// Segments whose pages are mapped on demand (expandable_segments:True).
#include <algorithm>

#include "base/rounding.h"
#include "profile/memory/allocator/implementation.h"

namespace symprof::profile {

using Implementation = AllocatorImplementation;

namespace {

constexpr std::int64_t small_page_bytes = 2_MiB;  // kSmallBuffer

/// True if `block` and the free blocks after it, mapped or not, have `bytes` in total.
bool has_address_space(const Block* block, std::int64_t bytes) {
  std::int64_t found = 0;
  for (; found < bytes && block != nullptr && !block->is_allocated; block = block->next)
    found += block->bytes;
  return found >= bytes;
}

}  // namespace

// try_allocate_expandable_block. On failure, pages mapped so far stay mapped.
Block* Implementation::grow_expandable(const Request& request) {
  Block* block = find_expandable(request);
  if (!block->is_mapped && !map(block, std::min(block->bytes, request.bytes))) return nullptr;
  while (block->bytes < request.bytes) {
    Block* next = block->next;
    if (!map(next, std::min(request.bytes - block->bytes, next->bytes))) return nullptr;
    block = next;
  }
  request.pool->free.erase(block->as_free());
  return block;
}

// find_expandable_block: the lowest unmapped addresses, including a free block before them.
Block* Implementation::find_expandable(const Request& request) {
  for (Block* block : request.pool->unmapped) {
    Block* previous = block->previous;
    Block* start = previous != nullptr && !previous->is_allocated ? previous : block;
    if (has_address_space(start, request.bytes)) return start;
  }
  return make_expandable(*request.pool);
}

/// Nine eighths of the device's memory, in whole pages (`ExpandableSegment`'s constructor).
Block* Implementation::make_expandable(Pool& pool) {
  const std::int64_t page = pool.is_small ? small_page_bytes : settings_.large_segment_bytes;
  const std::int64_t bytes = round_up(total_bytes_ + total_bytes_ / 8, page);
  segments_.push_back(
      {.address = device_.reserve_range(bytes), .page_bytes = page, .bytes = bytes});
  Block* block = arena_.make({.address = segments_.back().address,
                              .bytes = bytes,
                              .pool = &pool,
                              .segment = &segments_.back(),
                              .number = next_number(nullptr),
                              .is_mapped = false});
  pool.unmapped.insert(block);
  return block;
}

// map_block: maps whole pages from the start of an unmapped block.
bool Implementation::map(Block* block, std::int64_t bytes) {
  const std::int64_t mapped = round_up(bytes, block->segment->page_bytes);
  if (!device_.take(mapped)) return false;
  Pool& pool = *block->pool;
  pool.unmapped.erase(block);
  block->is_mapped = true;
  if (mapped < block->bytes) {
    Block* rest = arena_.make({.address = block->address + mapped,
                               .bytes = block->bytes - mapped,
                               .pool = &pool,
                               .segment = block->segment,
                               .number = next_number(block),
                               .is_mapped = false});
    link(block, rest, block->next);
    pool.unmapped.insert(rest);
    block->bytes = mapped;
  }
  const Address address = block->address;
  merge(block, block->previous);
  merge(block, block->next);
  pool.insert(block);
  ++statistics.device_allocs;
  statistics.reserved_bytes.add(mapped);
  tell(AllocatorAction::segment_map, address, mapped);
  return true;
}

// unmap_block: unmaps the whole pages inside a free block.
void Implementation::unmap(Block* block) {
  const ExpandableSegment& segment = *block->segment;
  const Address begin =
      segment.address + round_up(block->address - segment.address, segment.page_bytes);
  const Address block_end = block->address + block->bytes;
  const Address end = block_end - (block_end - segment.address) % segment.page_bytes;
  if (begin >= end) return;
  Pool& pool = *block->pool;
  pool.free.erase(block->as_free());
  if (begin > block->address) {
    Block* before = arena_.make({.address = block->address,
                                 .bytes = begin - block->address,
                                 .pool = &pool,
                                 .segment = block->segment,
                                 .number = next_number(block)});
    link(block->previous, before, block);
    pool.insert(before);
  }
  if (end < block_end) {
    Block* after = arena_.make({.address = end,
                                .bytes = block_end - end,
                                .pool = &pool,
                                .segment = block->segment,
                                .number = next_number(block)});
    link(block, after, block->next);
    pool.insert(after);
  }
  block->address = begin;
  block->bytes = end - begin;
  block->is_mapped = false;
  device_.give_back(block->bytes);
  ++statistics.device_frees;
  statistics.reserved_bytes.add(-block->bytes);
  tell(AllocatorAction::segment_unmap, block->address, block->bytes);
  merge(block, block->previous);
  merge(block, block->next);
  if (block->is_split()) {
    pool.unmapped.insert(block);
  } else {
    arena_.kill(block);  // The whole segment is unmapped: its address range is released too.
  }
}

}  // namespace symprof::profile
