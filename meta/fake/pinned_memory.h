// Host memory that a program asks to be pinned, in a process without a driver that could do so.
#pragma once

#include <c10/core/Allocator.h>

namespace symprof::meta {

/// Memory of the usual host allocator that is remembered as pinned while it lives.
c10::Allocator* pinned_memory_allocator();

/// Whether the address lies in memory of that allocator.
bool is_pinned(const void* address);

}  // namespace symprof::meta
