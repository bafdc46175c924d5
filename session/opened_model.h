// The model of a Session: its file, and LibTorch, which starts while the file is read.
#pragma once

#include <map>
#include <string>

#include "session/torch_library.h"
#include "trace/load.h"
#include "trace/passes/other_batch.h"

namespace symprof {

struct OpenedModel {
  TorchLibrary torch;
  trace::ModelFile file;
  /// Keyed by the other settings that determine the graph: a batch plan costs several runs of it.
  std::map<std::string, trace::BatchPlan> batch_plans;
};

}  // namespace symprof
