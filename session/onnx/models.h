// Models whose values can be computed, and their backends.
#pragma once

#include <string>
#include <vector>

#include "workbench/model.h"
#include "workbench/runnable.h"

namespace symprof {

/// The interpreter of graphs on real values; LibTorch loads while the model is read.
workbench::ValueRunner value_runner();

/// An ONNX model as written, or a .pt2 or TorchScript file, prepared for inference. `sizes` give
/// symbolic dimensions, "batch=2", `shapes` the inputs of a script, "x=float32[2,3]".
workbench::Runnable open_runnable(const std::string& path, const std::vector<std::string>& sizes,
                                  const std::vector<std::string>& shapes,
                                  const workbench::ValueRunner& runner);

/// Writes a model that was read from `source`, complete or not at all, and makes external data
/// readable beside it. Throws Error.
void write_model(const workbench::Model& model, const std::string& source, const std::string& file);

/// Throws Error for a file that is no ONNX: `verb` has nothing to do with it.
void check_is_onnx(const std::string& path, const std::string& verb);

}  // namespace symprof
