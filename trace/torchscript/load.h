// TorchScript files (.pt of torch.jit.save) as a graph. The declarations need no LibTorch; the
// definitions of `load_torchscript` and below it do.
//
// Public header.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "record/step_options.h"
#include "trace/graph/graph.h"
#include "trace/passes/bind_inputs.h"
#include "trace/passes/training_mode.h"

namespace symprof::trace {

/// A script is code: sizes, the mode and the dtype decide which operators it calls.
struct TorchScriptOptions {
  std::vector<InputOverride> inputs;
  std::vector<std::pair<std::string, std::int64_t>> bindings;
  std::optional<TrainingMode> mode;  ///< Empty: train where the module has parameters.
  std::optional<DType> dtype;        ///< Floating-point parameters, buffers and inputs are cast.
  bool gradients = true;             ///< What torch.is_grad_enabled() answers.
  /// The most instructions of the script that run: far more than a model takes, so that a loop
  /// without end is refused after seconds.
  std::int64_t most_steps = 5'000'000;
  UnbackedSizes unbacked = UnbackedSizes::refuse;
  /// Folders with the Python that a trace was made from; empty: its lines are not read.
  std::vector<std::string> python_sources;
};

/// True when the content of the file is TorchScript. Throws Error when it cannot be read.
bool is_torchscript(const std::string& path);

/// Runs the script once on fake tensors: calls, branches and loops are followed, and every operator
/// that makes or changes a tensor becomes a node. The inputs of the result are bound. Inputs that
/// `options` does not give have the shapes that torch.jit.trace kept. Weights are not read.
/// Throws Error: a broken file, an input without a shape, code that depends on a tensor's data or
/// that cannot be followed (the message names the line of the file's code).
Graph load_torchscript(const std::string& path, const TorchScriptOptions& options);

}  // namespace symprof::trace
