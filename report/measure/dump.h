// Dumps and replays as text and JSON.
#pragma once

#include <fmt/format.h>

#include <span>
#include <string>
#include <vector>

#include "report/measure/dump_export.h"
#include "trace/dump/dump.h"
#include "workbench/dump/replay.h"

namespace symprof::report {

/// A line for each entry, "('model.decoder', 0, 'I') -- ((T1s2x30x16,),{})", and the omitted
/// entries.
void write_dump(fmt::memory_buffer& out, const trace::dump::Dump& dump, const std::string& path);
/// The same with a member for each tensor, named as in an export.
void write_dump_json(fmt::memory_buffer& out, const trace::dump::Dump& dump,
                     const std::string& path, std::span<const NamedLeaf> leaves);

/// A line for each output of each replayed call; differences last.
void write_replay(fmt::memory_buffer& out, const std::vector<workbench::ReplayedCall>& calls,
                  const std::string& dump, const std::string& model);
void write_replay_json(fmt::memory_buffer& out, const std::vector<workbench::ReplayedCall>& calls,
                       const std::string& dump, const std::string& model);

}  // namespace symprof::report
