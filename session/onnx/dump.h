// The inputs and outputs of calls inside a model, and their replay by another model.
#pragma once

#include <string>
#include <vector>

#include "trace/dump/dump.h"
#include "workbench/dump/replay.h"
#include "workbench/dump/run.h"

namespace symprof {

/// A model of any format, with sizes of symbolic dimensions ("batch=2") and shapes of a script's
/// inputs ("x=float32[2,3]").
struct RunnableModel {
  std::string path;
  std::vector<std::string> sizes, shapes;
};

/// Runs the model as written, or prepared for inference. `how.inputs.sizes` is read from the
/// model's sizes.
trace::dump::Dump dump_calls(const RunnableModel& model, workbench::DumpOptions how);

/// Runs parts of `model` on the inputs in `dump`.
std::vector<workbench::ReplayedCall> replay_dump(const trace::dump::Dump& dump,
                                                 const RunnableModel& model,
                                                 const workbench::ReplayOptions& how);

}  // namespace symprof
