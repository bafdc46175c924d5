#include "profile/memory/allocator/free_blocks.h"

#include <algorithm>
#include <iterator>

namespace symprof::profile {
namespace {

constexpr std::size_t most_of_part = 32;

}  // namespace

FreeBlocks::Iterator FreeBlocks::lower_bound(const FreeBlock& key) const {
  const auto part = std::ranges::partition_point(
      parts_, [&](const std::vector<FreeBlock>& blocks) { return blocks.back() < key; });
  if (part == parts_.end()) return end();
  const auto block = std::lower_bound(part->begin(), part->end(), key);
  return {parts_, static_cast<std::size_t>(part - parts_.begin()),
          static_cast<std::size_t>(block - part->begin())};
}

void FreeBlocks::insert(const FreeBlock& free) {
  Iterator at = lower_bound(free);
  if (at == end()) {
    if (parts_.empty()) parts_.emplace_back().reserve(most_of_part);
    at = {parts_, parts_.size() - 1, parts_.back().size()};
  }
  std::vector<FreeBlock>& part = parts_[at.part_];
  part.insert(std::next(part.begin(), static_cast<std::ptrdiff_t>(at.index_)), free);
  if (part.size() < most_of_part) return;
  const auto half = std::next(part.begin(), most_of_part / 2);
  std::vector<FreeBlock> rest;
  rest.reserve(most_of_part);
  rest.assign(half, part.end());
  part.erase(half, part.end());
  parts_.insert(std::next(parts_.begin(), static_cast<std::ptrdiff_t>(at.part_) + 1),
                std::move(rest));
}

void FreeBlocks::erase(Iterator at) {
  std::vector<FreeBlock>& part = parts_[at.part_];
  part.erase(std::next(part.begin(), static_cast<std::ptrdiff_t>(at.index_)));
  if (part.empty()) parts_.erase(std::next(parts_.begin(), static_cast<std::ptrdiff_t>(at.part_)));
}

std::vector<Block*> FreeBlocks::blocks() const {
  std::vector<Block*> all;
  for (const std::vector<FreeBlock>& part : parts_)
    for (const FreeBlock& free : part) all.push_back(free.block);
  return all;
}

}  // namespace symprof::profile
