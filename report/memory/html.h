// A page about a memory snapshot: memory over events, by owner, which can be zoomed into.
#pragma once

#include <fmt/format.h>

#include "report/memory/memory.h"

namespace symprof::report {

/// One file without any other. The drawing has each change of memory, up to a million of them; of
/// more, neighbors are one. The output of `write_memory` follows.
void write_memory_html(fmt::memory_buffer& out, const SnapshotAnswer& answer,
                       const MemoryRowOptions& options);

}  // namespace symprof::report
