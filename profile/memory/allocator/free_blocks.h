// The free blocks of a pool, sorted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "profile/memory/allocator/allocator_state.h"

namespace symprof::profile {

struct Block;

/// A free block, with what it is sorted by.
struct FreeBlock {
  std::int64_t bytes = 0;
  std::int64_t number = 0;
  Address address = 0;
  Block* block = nullptr;

  /// `BlockComparatorSizeCounterAddress`, of the blocks of one stream.
  bool operator<(const FreeBlock& other) const {
    if (bytes != other.bytes) return bytes < other.bytes;
    return number != other.number ? number < other.number : address < other.address;
  }
};

/// Free blocks by size, then by number and address. They are hundreds and change with each request:
/// in short vectors one after another, few have to move for another.
class FreeBlocks {
 public:
  class Iterator {
   public:
    const FreeBlock& operator*() const { return (*parts_)[part_][index_]; }
    const FreeBlock* operator->() const { return &**this; }
    Iterator& operator++() {
      if (++index_ == (*parts_)[part_].size()) {
        ++part_;
        index_ = 0;
      }
      return *this;
    }
    bool operator==(const Iterator&) const = default;

   private:
    friend FreeBlocks;
    using Parts = std::vector<std::vector<FreeBlock>>;
    Iterator(const Parts& parts, std::size_t part, std::size_t index)
        : parts_(&parts), part_(part), index_(index) {}

    const Parts* parts_;
    std::size_t part_, index_;
  };

  Iterator end() const { return {parts_, parts_.size(), 0}; }
  /// The first block of at least so many bytes.
  Iterator of_at_least(std::int64_t bytes) const { return lower_bound({.bytes = bytes}); }
  void insert(const FreeBlock& free);
  void erase(Iterator at);
  void erase(const FreeBlock& free) { erase(lower_bound(free)); }
  /// As they are now, for loops that change the list.
  std::vector<Block*> blocks() const;

 private:
  Iterator lower_bound(const FreeBlock& key) const;

  Iterator::Parts parts_;  // None is empty.
};

}  // namespace symprof::profile
