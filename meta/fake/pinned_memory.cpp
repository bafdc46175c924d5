#include "meta/fake/pinned_memory.h"

#include <c10/core/CPUAllocator.h>

#include <map>
#include <memory>
#include <mutex>

namespace symprof::meta {
namespace {

// Thread-safe, as data loaders pin on their own threads.
struct Pinned {
  std::mutex mutex;
  std::map<const char*, std::size_t> blocks;
};

Pinned& pinned() {
  static auto* blocks = new Pinned;  // Outlives tensors at interpreter exit.
  return *blocks;
}

void unpin(void* context) {
  const std::unique_ptr<c10::DataPtr> block(static_cast<c10::DataPtr*>(context));
  const std::lock_guard lock(pinned().mutex);
  pinned().blocks.erase(static_cast<const char*>(block->get()));
}

struct PinnedAllocator final : c10::Allocator {
  c10::DataPtr allocate(std::size_t bytes) override {
    auto block = std::make_unique<c10::DataPtr>(c10::GetCPUAllocator()->allocate(bytes));
    void* address = block->get();
    if (address == nullptr) return {nullptr, nullptr, &c10::detail::deleteNothing, c10::kCPU};
    {
      const std::lock_guard lock(pinned().mutex);
      pinned().blocks[static_cast<const char*>(address)] = bytes;
    }
    return {address, block.release(), &unpin, c10::kCPU};
  }

  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    default_copy_data(to, from, bytes);
  }
};

}  // namespace

c10::Allocator* pinned_memory_allocator() {
  static PinnedAllocator allocator;
  return &allocator;
}

bool is_pinned(const void* address) {
  const auto* begin = static_cast<const char*>(address);
  const std::lock_guard lock(pinned().mutex);
  auto block = pinned().blocks.upper_bound(begin);
  if (block == pinned().blocks.begin()) return false;
  --block;
  return begin < block->first + block->second;
}

}  // namespace symprof::meta
