// The inputs and outputs of calls inside a model, and their replay by another model.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trace/dump/dump.h"
#include "workbench/dump/replay.h"

namespace symprof {

/// A model of any format, with sizes of symbolic dimensions ("batch=2") and shapes of a script's
/// inputs ("x=float32[2,3]").
struct RunnableModel {
  std::string path;
  std::vector<std::string> sizes, shapes;
};

struct DumpQuestion : RunnableModel {
  std::vector<std::string> modules, nodes;  ///< Patterns; "" is the whole model.
  std::string limit = "128MiB";             ///< Of the inputs, outputs or weights of a call.
  std::int64_t runs = 1;
  std::uint64_t seed = 0;
  bool weights = false;
};

/// Runs the model as it is written, or prepared for inference. Throws Error where nothing is asked.
trace::dump::Dump dump_calls(const DumpQuestion& question);

/// Writes the file, and the data of large tensors beside it. Throws Error.
void write_dump(const trace::dump::Dump& dump, const std::string& file);

struct ReplayQuestion : RunnableModel {
  std::string entry = "*";  ///< Of the entries that are replayed.
  std::optional<double> tolerance;
};

/// Runs parts of the model on what `dump` holds.
std::vector<workbench::ReplayedCall> replay_dump(const trace::dump::Dump& dump,
                                                 const ReplayQuestion& question);

/// True if all values are within tolerance. Throws Error where nothing was compared with `model`.
bool are_within(const std::vector<workbench::ReplayedCall>& calls, const std::string& model);

}  // namespace symprof
