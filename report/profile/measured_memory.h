// A measured memory history beside the predicted one: a table of what their peaks differ by, lines,
// a verdict, and JSON.
#pragma once

#include <fmt/format.h>

#include "report/write/json_writer.h"
#include "report/write/layout.h"
#include "session/memory_snapshot.h"

namespace symprof::report {

constexpr int top_differences = 10;

/// The table has the `top` largest differences.
void write_measured_memory(fmt::memory_buffer& out, const MeasuredMemory& both, int top,
                           const Layout& layout);

/// The member "measured_memory".
void write_measured_memory(JsonWriter& json, const MeasuredMemory& both);
/// The same as a document (schema symprof.measured_memory/1).
void write_measured_memory_json(fmt::memory_buffer& out, const MeasuredMemory& both);

/// "the prediction holds: …", in one sentence.
std::string verdict_text(const snapshot::Prediction& prediction);

}  // namespace symprof::report
