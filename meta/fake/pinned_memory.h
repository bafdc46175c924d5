// Simulated pinned host memory, for a process without a CUDA driver.
#pragma once

#include <c10/core/Allocator.h>

namespace symprof::meta {

/// An allocator of ordinary host memory that records its live blocks as pinned.
c10::Allocator* pinned_memory_allocator();

/// True if the address is in that allocator's memory.
bool is_pinned(const void* address);

}  // namespace symprof::meta
