// Batches and their plans, as text and as JSON (schema symprof.throughput/1).
#pragma once

#include <fmt/format.h>

#include "report/write/layout.h"
#include "session/session.h"
#include "session/throughput_answer.h"

namespace symprof::report {

/// For each device a table of its batches, the fastest, and the largest.
void write_throughput(fmt::memory_buffer& out, const ThroughputAnswer& answer,
                      const Layout& layout);

void write_throughput_json(fmt::memory_buffer& out, const ThroughputAnswer& answer,
                           SettingSpeller spell = spell_plainly);

}  // namespace symprof::report
