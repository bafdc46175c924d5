// Blocks of the simulated allocator, its free lists, and the device.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <vector>

#include "base/rounding.h"
#include "profile/memory/allocator/allocator_state.h"
#include "profile/memory/allocator/free_blocks.h"

namespace symprof::profile {

struct Pool;

/// An address range whose pages are mapped on demand (`ExpandableSegment`).
struct ExpandableSegment {
  Address address = 0;
  std::int64_t page_bytes = 0;
  std::int64_t bytes = 0;
};

/// Part of a segment. Neighbors are linked in the order of addresses.
struct Block {
  Address address = 0;
  std::int64_t bytes = 0;
  std::int64_t requested_bytes = 0;
  Pool* pool = nullptr;
  ExpandableSegment* segment = nullptr;  ///< Null in a cudaMalloc segment.
  std::int64_t number = 0;               ///< Tie-break among blocks of one size (`EqualBlocks`).
  Block* previous = nullptr;
  Block* next = nullptr;
  bool is_allocated = false;
  bool is_mapped = true;        ///< False: addresses without memory.
  std::int64_t free_since = 0;  ///< Number of pool searches when the block was freed.

  bool is_split() const { return previous != nullptr || next != nullptr; }
  FreeBlock as_free() { return {bytes, number, address, this}; }
};

/// `BlockComparatorAddress`, of the blocks of one stream.
struct ByAddress {
  bool operator()(const Block* a, const Block* b) const { return a->address < b->address; }
};

struct Pool {
  bool is_small = false;
  bool is_of_graphs = false;
  FreeBlocks free;
  std::set<Block*, ByAddress> unmapped;
  std::int64_t searches = 0;  ///< Counted while garbage collection is on.

  void insert(Block* block) {
    block->free_since = searches;
    free.insert(block->as_free());
  }
  std::int64_t age(const Block& block) const { return searches - block.free_since; }
};

/// Free blocks of one stream.
struct Pools {
  Pool small{.is_small = true}, large;
  bool is_kept = false;  ///< empty_cache leaves it: a pool of CUDA graphs.
};

/// Owns blocks and recycles dead ones, which are in no pool.
class BlockArena {
 public:
  Block* make(Block block) {
    if (dead_.empty()) return &blocks_.emplace_back(block);
    Block* slot = dead_.back();
    dead_.pop_back();
    *slot = block;
    return slot;
  }
  void kill(Block* block) {
    block->pool = nullptr;
    dead_.push_back(block);
  }
  std::vector<const Block*> living() const {
    std::vector<const Block*> all;
    for (const Block& block : blocks_)
      if (block.pool != nullptr) all.push_back(&block);
    return all;
  }

 private:
  std::deque<Block> blocks_;
  std::vector<Block*> dead_;
};

/// Links `block` between two neighbors, either of which may be null.
inline void link(Block* previous, Block* block, Block* next) {
  block->previous = previous;
  block->next = next;
  if (previous != nullptr) previous->next = block;
  if (next != nullptr) next->previous = block;
}

/// The device's memory, in 2 MiB pages, and two address ranges. Addresses of cudaMalloc segments
/// descend, as on a GPU: with descending addresses 180 of 189 steps of PyTorch 2.11 reserve as much
/// as on an H200, with ascending ones 132 (truth/h200/address_order.py).
class DeviceMemory {
 public:
  explicit DeviceMemory(std::int64_t bytes) : bytes_(bytes) {}

  /// cudaMalloc.
  std::optional<Address> allocate(std::int64_t bytes) {
    const std::int64_t whole = pages(bytes);
    if (!take(whole)) return std::nullopt;
    return next_ -= whole;
  }
  void release(std::int64_t bytes) { used_ -= pages(bytes); }

  /// cuMemCreate: all of it or nothing.
  bool take(std::int64_t bytes) {
    if (used_ + bytes > bytes_) return false;
    used_ += bytes;
    return true;
  }

  /// cuMemRelease.
  void give_back(std::int64_t bytes) { used_ -= bytes; }

  /// cuMemAddressReserve.
  Address reserve_range(std::int64_t bytes) {
    const Address address = next_range_;
    next_range_ += round_up(bytes, range_step);
    return address;
  }

  std::int64_t free_bytes() const { return bytes_ - used_; }

 private:
  static constexpr std::int64_t page_bytes = 2_MiB;
  static constexpr std::int64_t range_step = std::int64_t{1} << 40;
  static std::int64_t pages(std::int64_t bytes) { return round_up(bytes, page_bytes); }

  std::int64_t bytes_;
  std::int64_t used_ = 0;
  Address next_ = 0x7f0000000000;
  Address next_range_ = 0x100000000000;
};

}  // namespace symprof::profile
