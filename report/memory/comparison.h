// Two memory snapshots side by side, as text, as JSON (schema symprof.memory_comparison/1) and as
// CSV.
#pragma once

#include <fmt/format.h>

#include "report/memory/memory.h"

namespace symprof::report {

/// The peaks, and the lines (or modules) that changed.
void write_memory_comparison(fmt::memory_buffer& out, const SnapshotComparison& both,
                             const MemoryRowOptions& options, const Layout& layout);
void write_memory_comparison_json(fmt::memory_buffer& out, const SnapshotComparison& both);
void write_memory_comparison_csv(fmt::memory_buffer& out, const SnapshotComparison& both,
                                 const MemoryRowOptions& options);

}  // namespace symprof::report
