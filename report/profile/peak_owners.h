// Memory at the peak by owner, as words, as a table and as JSON.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profile/memory/peak_by_module.h"
#include "report/write/json_writer.h"
#include "report/write/layout.h"

namespace symprof::report {

std::string_view name(PeakOwner::Kind kind);  ///< "module", "node", "input", "workspace", …

/// "encoder.layers.0", "(root)", "input x", "cuBLAS workspace".
std::string label(const PeakOwner& owner);

/// The depth of separate modules, and the number of rows; empty if not given.
struct PeakTableOptions {
  std::optional<int> depth, top;
};

/// The largest rows of peak_by_module; a last row, "[5 others]", sums the rest.
struct PeakRows {
  std::vector<PeakOwner> rows;
  std::optional<PeakOwner> others;
  std::size_t other_count = 0;
};
PeakRows peak_rows(const StepMemory& memory, const Recording& recording,
                   const PeakTableOptions& options);

/// A row for each module, a column for each category with bytes.
void write_peak_table(fmt::memory_buffer& out, const StepMemory& memory, const Recording& recording,
                      const PeakTableOptions& options, const Layout& layout);

/// "encoder.layers.* (12 modules) 8.05 GiB, optimizer 660.46 MiB, …": modules whose paths differ
/// only in numbers are grouped.
std::string owners_text(const StepMemory& memory, const Recording& recording);

/// The member "peak_by_module": every module by its whole path.
void write_peak_by_module(JsonWriter& json, const StepMemory& memory, const Recording& recording);

}  // namespace symprof::report
