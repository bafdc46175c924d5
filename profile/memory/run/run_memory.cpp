#include "profile/memory/run/run_memory.h"

#include <utility>

namespace symprof::profile {

RunPlayer::RunPlayer(const RunOptions& options)
    : allocator_(options.allocator, options.device_bytes.value_or(endless_bytes),
                 options.total_bytes) {}

bool RunPlayer::play(const StepTape& tape) {
  allocator_.reset_peaks();
  slots_.assign(static_cast<std::size_t>(tape.slots), nullptr);
  for (const TapeEvent& event : tape.events)
    if (!play(event)) return false;
  carry(tape);
  return true;
}

bool RunPlayer::play(const TapeEvent& event) {
  switch (event.kind) {
    case TapeEvent::Kind::take:
      return take(slots_[static_cast<std::size_t>(event.number)], event);
    case TapeEvent::Kind::give_back:
      allocator_.give_back(slots_[static_cast<std::size_t>(event.number)]);
      return true;
    case TapeEvent::Kind::take_kept: {
      Block*& block = block_of({event.category, /*is_kept=*/true, event.number});
      return block != nullptr || take(block, event);
    }
    case TapeEvent::Kind::give_back_carried: {
      Block* block =
          std::exchange(block_of({event.category, /*is_kept=*/false, event.number}), nullptr);
      if (block != nullptr) allocator_.give_back(block);
      return true;
    }
    case TapeEvent::Kind::empty_cache:
      allocator_.empty_cache();
      return true;
  }
  return true;
}

Block*& RunPlayer::block_of(const BlockKey& key) {
  auto& blocks = (key.is_kept ? kept_ : carried_)[static_cast<std::size_t>(key.category)];
  const auto ordinal = static_cast<std::size_t>(key.ordinal);
  if (blocks.size() <= ordinal) blocks.resize(ordinal + 1);
  return blocks[ordinal];
}

bool RunPlayer::take(Block*& block, const TapeEvent& event) {
  block = allocator_.take(event.bytes, event.stream);
  if (block == nullptr) refused_bytes_ = event.bytes;
  return block != nullptr;
}

/// A block whose name is taken was never given back by the steps in between: its program has lost
/// it, and so it goes.
void RunPlayer::carry(const StepTape& tape) {
  for (const auto& [slot, key] : tape.carried) {
    Block*& block = block_of(key);
    if (block != nullptr) {
      allocator_.give_back(block);
      ++unmatched_;
    }
    block = slots_[static_cast<std::size_t>(slot)];
  }
}

RunRow RunPlayer::row() const {
  const AllocatorStatistics& now = allocator_.statistics();
  return {.allocated_bytes = now.allocated_bytes.current,
          .reserved_bytes = now.reserved_bytes.current,
          .peak_allocated_bytes = now.allocated_bytes.peak,
          .peak_reserved_bytes = now.reserved_bytes.peak,
          .inactive_split_bytes = now.inactive_split_bytes.current,
          .segments = now.segments,
          .alloc_retries = now.alloc_retries,
          .device_frees = now.device_frees};
}

RunMemory play_run(std::span<const StepTape> tapes, std::span<const std::int32_t> order,
                   const RunOptions& options) {
  RunPlayer player(options);
  RunMemory memory;
  memory.rows.reserve(order.size());
  for (const std::int32_t tape : order) {
    const bool is_served = player.play(tapes[static_cast<std::size_t>(tape)]);
    memory.rows.push_back(player.row());
    if (is_served) continue;
    memory.refused = {memory.rows.size() - 1, player.refused_bytes(),
                      memory.rows.back().allocated_bytes, memory.rows.back().reserved_bytes};
    break;
  }
  memory.unmatched_blocks = player.unmatched_blocks();
  return memory;
}

}  // namespace symprof::profile
