// A model file as a graph that is ready to run.
#pragma once

#include "cli/model_options.h"
#include "cli/torch_library.h"
#include "trace/graph.h"

namespace symprof::cli {

/// Reads the file, switches it to the mode and the dtype that are asked for and binds its inputs.
/// Decides `options.step.mode` where the user left it open. Throws Error.
Graph load_model(TorchLibrary& torch, ModelOptions& options);

}  // namespace symprof::cli
