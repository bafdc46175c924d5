// Replays the calls of a dump with another graph: on the dumped inputs, compared with the dumped
// outputs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "trace/dump/dump.h"
#include "workbench/runnable.h"
#include "workbench/verify.h"

namespace symprof::workbench {

struct ReplayOptions {
  /// A bound of |x - y| / max(1, |x|). Default: 1e-4, or 1e-2 where a dumped output is float16 or
  /// bfloat16.
  std::optional<double> tolerance;
  std::string names = "*";  ///< Of the entries that are replayed, with *, ? and [..].
};

/// One call of the dump.
struct ReplayedCall {
  std::string name;
  std::int64_t iteration = 0;
  std::string part;  ///< Of the graph: "module decoder", "node MatMul_3", "the whole model".
  double tolerance = 0;
  std::vector<OutputDifference> outputs;
  std::string not_run;  ///< Why the call was not compared; empty: it was.

  bool is_within() const;
};

/// Runs, for each call with inputs and outputs, the part of the graph of that name: a module or a
/// node, with or without the first component of the name ("model.decoder" matches "decoder") and
/// the suffix that submodules=True of the Python tool adds; the whole graph for the model itself,
/// and where the dump has a single module that the graph does not know. Inputs are matched by name,
/// then by position and type; remaining inputs of a part are computed from the dumped inputs of the
/// whole model. Outputs likewise.
std::vector<ReplayedCall> replay(const trace::dump::Dump& dump, const Runnable& start,
                                 const ValueRunner& runner, const ReplayOptions& options);

}  // namespace symprof::workbench
