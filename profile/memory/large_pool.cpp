#include "profile/memory/large_pool.h"

#include <algorithm>

#include "profile/memory/allocator/allocator_settings.h"

namespace symprof::profile {

LargePool::LargePool(const std::vector<std::int64_t>& segments, std::size_t blocks)
    : place_of_(blocks, nowhere) {
  std::int64_t address = 0;
  for (const std::int64_t bytes : segments) {
    add_free(last_ = new_place({.bytes = bytes, .address = address}));
    address += bytes;
  }
}

/// What remains is a place of its own if it is of use for large blocks (should_split,
/// c10/cuda/CUDACachingAllocator.cpp).
bool LargePool::allocate(std::size_t block, std::int64_t bytes) {
  const auto found = from(Key{.bytes = bytes});
  if (found == free_.end()) return false;
  const int place = found->place;
  remove_free(place);
  const Place whole = at(place);
  if (whole.bytes - bytes > small_limit_bytes) {
    const int rest = new_place({.bytes = whole.bytes - bytes,
                                .address = whole.address + bytes,
                                .previous = place,
                                .next = whole.next});
    if (whole.next != nowhere) at(whole.next).previous = rest;
    at(place).next = rest;
    if (last_ == place) last_ = rest;
    at(place).bytes = bytes;
    add_free(rest);
  }
  place_of_[block] = place;
  return true;
}

void LargePool::free(std::size_t block) {
  const int place = place_of_[block];
  const int previous = at(place).previous, next = at(place).next;
  if (previous != nowhere && at(previous).is_free) {
    at(place).address = at(previous).address;
    merge(place, previous);
    at(place).previous = at(previous).previous;
    if (at(place).previous != nowhere) at(at(place).previous).next = place;
  }
  if (next != nowhere && at(next).is_free) {
    merge(place, next);
    at(place).next = at(next).next;
    if (at(place).next != nowhere) at(at(place).next).previous = place;
  }
  add_free(place);
}

std::int64_t LargePool::grow_for(std::int64_t bytes) {
  if (!at(last_).is_free) {
    const int added =
        new_place({.bytes = 0, .address = at(last_).address + at(last_).bytes, .previous = last_});
    at(last_).next = added;
    last_ = added;
  } else {
    remove_free(last_);
  }
  const std::int64_t grown = bytes - at(last_).bytes;
  at(last_).bytes = bytes;
  add_free(last_);
  return grown;
}

std::vector<LargePool::Key>::iterator LargePool::from(const Key& key) {
  return std::lower_bound(free_.begin(), free_.end(), key);
}

int LargePool::new_place(const Place& place) {
  if (unused_.empty()) {
    places_.push_back(place);
    return static_cast<int>(places_.size()) - 1;
  }
  const int reused = unused_.back();
  unused_.pop_back();
  at(reused) = place;
  return reused;
}

void LargePool::add_free(int place) {
  at(place).is_free = true;
  const Key key{at(place).bytes, at(place).address, place};
  free_.insert(from(key), key);
}

void LargePool::remove_free(int place) {
  at(place).is_free = false;
  free_.erase(from(Key{at(place).bytes, at(place).address, place}));
}

void LargePool::merge(int place, int with) {
  remove_free(with);
  at(place).bytes += at(with).bytes;
  if (last_ == with) last_ = place;
  unused_.push_back(with);
}

}  // namespace symprof::profile
