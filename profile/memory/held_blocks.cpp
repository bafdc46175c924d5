#include "profile/memory/held_blocks.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "record/graph_pools.h"

namespace symprof::profile {

HeldBlocks::HeldBlocks(const StepMemoryOptions& options,
                       std::function<void(const BlockEvent&)> on_block)
    : allocator_(options.loop.allocator, options.device_bytes.value_or(endless_bytes)),
      on_block_(std::move(on_block)),
      up_front_bytes_(options.loop.allocator.up_front_bytes),
      most_reserved_bytes_(options.most_reserved_bytes.value_or(endless_bytes)) {
  if (options.observer)
    allocator_.observe(
        [this, tell = options.observer](const AllocatorEvent& event) { tell(event, call_); });
}

void HeldBlocks::reserve_up_front() {
  if (up_front_bytes_.empty()) return;
  std::vector<HeldBlock> blocks;
  blocks.reserve(up_front_bytes_.size());
  for (const std::int64_t bytes : up_front_bytes_)
    blocks.push_back(request(bytes, MemoryCategory::temporaries, none));
  give_back(blocks);
  reset_peaks();
}

void HeldBlocks::begin_call(CallId call) {
  call_ = call;
  highest_bytes_ = now_.total();
}

HeldBlock HeldBlocks::request(std::int64_t bytes, MemoryCategory category, NodeId owner,
                              StreamId stream) {
  const std::optional<HeldBlock> block = request_if_there(bytes, category, owner, stream);
  if (!block) throw Refused();
  return *block;
}

std::optional<HeldBlock> HeldBlocks::request_if_there(std::int64_t bytes, MemoryCategory category,
                                                      NodeId owner, StreamId stream) {
  if (stream == graph_replay_stream) return HeldBlock{};
  const Gauge& allocated = allocator_.statistics().allocated_bytes;
  const Gauge before = allocated;
  concerned_ = {.category = category, .owner = owner};
  const std::optional<Address> address = allocator_.allocate(bytes, stream);
  if (!address) return std::nullopt;
  if (allocator_.statistics().reserved_bytes.current > most_reserved_bytes_) throw Refused();
  const HeldBlock block{address, allocated.current - before.current, category, owner};
  count(block, block.bytes);
  highest_bytes_ = std::max(highest_bytes_, now_.total());
  if (allocated.peak > before.peak) mark_peak();
  tell({BlockEvent::Kind::take, category, call_, *address, bytes, stream});
  return block;
}

void HeldBlocks::give_back(HeldBlock& block) {
  if (!block.address) return;
  concerned_ = block;
  allocator_.free(*block.address);
  tell({.kind = BlockEvent::Kind::give_back, .call = call_, .address = *block.address});
  count(block, -block.bytes);
  block = {};
}

void HeldBlocks::give_back(std::vector<HeldBlock>& blocks) {
  for (HeldBlock& block : blocks) give_back(block);
  blocks.clear();
}

std::pair<std::int64_t, std::int64_t> HeldBlocks::peaks() const {
  const AllocatorStatistics& statistics = allocator_.statistics();
  return {statistics.allocated_bytes.peak, statistics.reserved_bytes.peak};
}

void HeldBlocks::report(StepMemory& memory) const {
  std::tie(memory.peak_allocated_bytes, memory.peak_reserved_bytes) = peaks();
  memory.allocated_bytes = allocator_.statistics().allocated_bytes.current;
  memory.reserved_bytes = allocator_.statistics().reserved_bytes.current;
  memory.requested_bytes = allocator_.statistics().requested_bytes.current;
  memory.peak_requested_bytes = allocator_.statistics().requested_bytes.peak;
  for (const SegmentState& segment : allocator_.snapshot()) {
    if (segment.is_small) memory.small_segments_bytes += segment.bytes;
    if (segment.is_of_graphs) memory.graph_pool_bytes += segment.bytes;
  }
  memory.peak_call = peak_call_;
  memory.at_peak = at_peak_;
  memory.peak_by_node = holdings_.at_peak();
  memory.requested_at_peak_bytes = requested_at_peak_bytes_;
  memory.alloc_retries = allocator_.statistics().alloc_retries;
}

void HeldBlocks::count(const HeldBlock& block, std::int64_t bytes) {
  now_[block.category] += bytes;
  holdings_.change(block.owner, block.category, bytes);
}

void HeldBlocks::mark_peak() {
  at_peak_ = now_;
  peak_call_ = call_;
  requested_at_peak_bytes_ = allocator_.statistics().requested_bytes.current;
  holdings_.mark_peak();
}

}  // namespace symprof::profile
