// Runs a graph and dumps inputs and outputs of chosen calls.
#pragma once

#include <cstdint>

#include "trace/dump/dump.h"
#include "workbench/dump/calls.h"
#include "workbench/runnable.h"

namespace symprof::workbench {

struct DumpOptions {
  CallChoice calls;
  std::int64_t runs = 1;  ///< Each on other inputs; call numbers continue.
  DrawOptions inputs;     ///< The seed of the first run; later runs increment it.
  /// A limit for the inputs, outputs or weights of one call: larger ones are omitted, with a note.
  std::int64_t limit_bytes = std::int64_t{1} << 27;
  bool keeps_weights = false;
};

/// In the order of events: inputs of an outer call, inputs and outputs of an inner one, outputs of
/// the outer one. Weights come with the first call. Throws Error for graphs that cannot be run, and
/// for patterns without a match.
trace::dump::Dump dump_runs(const Runnable& start, const ValueRunner& runner,
                            const DumpOptions& options, const std::string& path);

}  // namespace symprof::workbench
