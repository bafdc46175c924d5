// Runs a graph and keeps what chosen calls were given and answered.
//
// Public header.
#pragma once

#include <cstdint>

#include "trace/dump/dump.h"
#include "workbench/dump/calls.h"
#include "workbench/runnable.h"

namespace symprof::workbench {

struct DumpOptions {
  CallChoice calls;
  std::int64_t runs = 1;  ///< On other inputs each; iterations of a call count on.
  DrawOptions inputs;     ///< The seed of the first run; each later one has the next.
  /// Of the inputs, the outputs or the weights of one call: what is larger is left out, and noted.
  std::int64_t limit_bytes = std::int64_t{1} << 27;
  bool keeps_weights = false;
};

/// In the order of events: inputs of an outer call, of an inner one, outputs of the inner one, of
/// the outer one. Weights come with the first call. Throws Error for what cannot be run, and for
/// patterns that match nothing.
trace::dump::Dump dump_runs(const Runnable& start, const ValueRunner& runner,
                            const DumpOptions& options, const std::string& path);

}  // namespace symprof::workbench
