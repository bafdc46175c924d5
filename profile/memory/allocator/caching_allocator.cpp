#include "profile/memory/allocator/caching_allocator.h"

#include <algorithm>

#include "profile/memory/allocator/implementation.h"

namespace symprof::profile {

CachingAllocator::CachingAllocator(const AllocatorSettings& settings, std::int64_t device_bytes,
                                   std::int64_t total_bytes)
    : implementation_(std::make_unique<AllocatorImplementation>(
          settings, device_bytes, total_bytes == 0 ? device_bytes : total_bytes)) {}
CachingAllocator::~CachingAllocator() = default;
CachingAllocator::CachingAllocator(CachingAllocator&&) noexcept = default;
CachingAllocator& CachingAllocator::operator=(CachingAllocator&&) noexcept = default;

std::optional<Address> CachingAllocator::allocate(std::int64_t bytes, StreamId stream) {
  Block* block = implementation_->take(bytes, stream);
  if (block == nullptr) return std::nullopt;
  blocks_.emplace(block->address, block);
  return block->address;
}
void CachingAllocator::free(Address address) {
  const auto found = blocks_.find(address);
  Block* block = found->second;
  blocks_.erase(found);
  implementation_->give_back(block);
}
Block* CachingAllocator::take(std::int64_t bytes, StreamId stream) {
  return implementation_->take(bytes, stream);
}
void CachingAllocator::give_back(Block* block) { implementation_->give_back(block); }
void CachingAllocator::empty_cache() { implementation_->release_cached_blocks(); }

void CachingAllocator::keep_pool(StreamId stream, bool keeps) {
  implementation_->keep_pool(stream, keeps);
}

void CachingAllocator::reset_peaks() {
  AllocatorStatistics& statistics = implementation_->statistics;
  for (Gauge* gauge : {&statistics.allocated_bytes, &statistics.reserved_bytes,
                       &statistics.requested_bytes, &statistics.inactive_split_bytes})
    gauge->peak = gauge->current;
}

const AllocatorStatistics& CachingAllocator::statistics() const {
  return implementation_->statistics;
}
std::vector<SegmentState> CachingAllocator::snapshot() const { return implementation_->snapshot(); }
void CachingAllocator::observe(std::function<void(const AllocatorEvent&)> observer) {
  implementation_->observer = std::move(observer);
}

AllocatorImplementation::AllocatorImplementation(const AllocatorSettings& settings,
                                                 std::int64_t device_bytes,
                                                 std::int64_t total_bytes)
    : settings_(settings), total_bytes_(total_bytes), device_(device_bytes) {
  if (settings.per_process_memory_fraction < 1)
    limit_bytes_ = static_cast<std::int64_t>(settings.per_process_memory_fraction *
                                             static_cast<double>(total_bytes));
}

Pools& AllocatorImplementation::pools_of(StreamId stream) {
  if (last_pools_ != nullptr && last_stream_ == stream) return *last_pools_;
  const auto [found, is_new] = pools_.try_emplace(stream);
  Pools& pools = found->second;
  if (is_new && stream < 0)
    pools.is_kept = pools.small.is_of_graphs = pools.large.is_of_graphs = true;
  last_pools_ = &pools;
  last_stream_ = stream;
  return pools;
}

Block* AllocatorImplementation::take(std::int64_t bytes, StreamId stream) {
  Request request{.bytes = rounded_size(bytes, settings_)};
  Pools& pools = pools_of(stream);
  request.pool = request.bytes <= small_limit_bytes ? &pools.small : &pools.large;
  Block* block = find_free_block(request);
  if (block == nullptr) {
    if (collects_garbage()) collect_garbage();
    block = take_new_block(request, /*is_retry=*/false);
    if (block == nullptr && release_oversize_blocks(request))
      block = take_new_block(request, /*is_retry=*/false);
    if (block == nullptr) {
      release_cached_blocks();
      block = take_new_block(request, /*is_retry=*/true);
    }
  }
  if (block == nullptr) {
    ++statistics.ooms;
    tell(AllocatorAction::oom, device_.free_bytes(), bytes);
    return nullptr;
  }
  const bool was_split = block->is_split();
  const bool is_first_part = should_split(*block, request);
  if (is_first_part) block = split(block, request);
  block->requested_bytes = bytes;
  count_use(*block, was_split, is_first_part);
  tell(AllocatorAction::alloc, block->address, bytes);
  return block;
}

void AllocatorImplementation::give_back(Block* block) {
  tell(AllocatorAction::free, block->address, block->requested_bytes);
  statistics.allocated_bytes.add(-block->bytes);
  statistics.requested_bytes.add(-block->requested_bytes);
  block->is_allocated = false;
  std::int64_t split_change = 0;
  for (Block* neighbor : {block->previous, block->next}) split_change -= merge(block, neighbor);
  block->pool->insert(block);
  if (block->segment != nullptr) return;
  if (block->is_split()) split_change += block->bytes;
  statistics.inactive_split_bytes.add(split_change);
}

void AllocatorImplementation::release_cached_blocks() {
  for (auto& [stream, pools] : pools_)
    if (!pools.is_kept) release_unsplit_blocks(pools.large);
  for (auto& [stream, pools] : pools_)
    if (!pools.is_kept) release_unsplit_blocks(pools.small);
}

void AllocatorImplementation::keep_pool(StreamId stream, bool keeps) {
  pools_of(stream).is_kept = keeps;
}

std::vector<SegmentState> AllocatorImplementation::snapshot() const {
  std::vector<const Block*> blocks = arena_.living();
  std::erase_if(blocks, [](const Block* block) { return !block->is_mapped; });
  std::ranges::sort(blocks, ByAddress());
  std::vector<SegmentState> result;
  for (const Block* block : blocks) {
    const bool goes_on = block->previous != nullptr && block->previous->is_mapped;
    if (!goes_on)
      result.push_back({.address = block->address,
                        .is_small = block->pool->is_small,
                        .is_expandable = block->segment != nullptr,
                        .is_of_graphs = block->pool->is_of_graphs});
    SegmentState& segment = result.back();
    segment.bytes += block->bytes;
    segment.blocks.push_back({block->address, block->bytes,
                              block->is_allocated ? block->requested_bytes : 0,
                              block->is_allocated});
  }
  return result;
}

}  // namespace symprof::profile
