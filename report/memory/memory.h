// An analyzed memory snapshot as text, as JSON (schema symprof.memory/1) and as CSV.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>

#include "report/write/layout.h"
#include "session/memory_snapshot.h"

namespace symprof::report {

enum class MemoryRows : std::uint8_t { line, module };

struct MemoryRowOptions {
  MemoryRows by = MemoryRows::line;
  int top = 20;  ///< Rows of each table; the rest is summed up in one row.
};

/// Owners of the allocated peak, then the peaks, fragmentation, leaks and out-of-memory events.
void write_memory(fmt::memory_buffer& out, const SnapshotAnswer& answer,
                  const MemoryRowOptions& options, const Layout& layout);
void write_memory_json(fmt::memory_buffer& out, const SnapshotAnswer& answer);
/// A row for each line (or module) with blocks at the peak.
void write_memory_csv(fmt::memory_buffer& out, const SnapshotAnswer& answer,
                      const MemoryRowOptions& options);

}  // namespace symprof::report
