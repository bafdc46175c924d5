// The allocator's large pool with nothing but given segments, for millions of requests: where
// CachingAllocator puts a block of more than `small_limit_bytes`, of one stream, without expandable
// segments and without max_split_size_mb.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace symprof::profile {

class LargePool {
 public:
  /// `blocks` are numbered from 0.
  LargePool(const std::vector<std::int64_t>& segments, std::size_t blocks);

  /// False: no free place has so many bytes, which are a multiple of 512.
  bool allocate(std::size_t block, std::int64_t bytes);
  void free(std::size_t block);
  /// Makes the pool longer at its end until a place there has `bytes`: by how much.
  std::int64_t grow_for(std::int64_t bytes);

 private:
  static constexpr int nowhere = -1;

  struct Place {
    std::int64_t bytes = 0, address = 0;
    int previous = nowhere, next = nowhere;  // In the same segment.
    bool is_free = false;
  };
  /// Of a free place: the allocator takes the smallest that does, of these the lowest.
  struct Key {
    std::int64_t bytes = 0, address = 0;
    int place = nowhere;
    bool operator<(const Key& other) const {
      return bytes != other.bytes ? bytes < other.bytes : address < other.address;
    }
  };

  Place& at(int place) { return places_[static_cast<std::size_t>(place)]; }
  /// The first free place that is not before it.
  std::vector<Key>::iterator from(const Key& key);
  int new_place(const Place& place);
  void add_free(int place);
  void remove_free(int place);
  void merge(int place, int with);

  std::vector<Place> places_;
  int last_ = nowhere;         // Of the highest address.
  std::vector<int> unused_;    // Of places_.
  std::vector<Key> free_;      // Ascending.
  std::vector<int> place_of_;  // By block.
};

}  // namespace symprof::profile
