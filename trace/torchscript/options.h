// Options that decide which path through a script is taken.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "record/step_options.h"
#include "trace/passes/bind_inputs.h"
#include "trace/passes/training_mode.h"

namespace symprof::trace {

/// A script is code: sizes, the mode and the dtype decide which operators it calls.
struct TorchScriptOptions {
  std::vector<InputOverride> inputs;
  std::vector<std::pair<std::string, std::int64_t>> bindings;
  std::optional<TrainingMode> mode;  ///< Empty: train where the module has parameters.
  std::optional<DType> dtype;        ///< Floating-point parameters, buffers and inputs are cast.
  bool gradients = true;             ///< The result of torch.is_grad_enabled().
  /// The most instructions of the script that run: far more than a model takes, so that a loop
  /// without end is refused after seconds.
  std::int64_t most_steps = 5'000'000;
  UnbackedSizes unbacked = UnbackedSizes::refuse;
  /// Folders with the Python that a trace was made from; empty: its lines are not read.
  std::vector<std::string> python_sources;
};

}  // namespace symprof::trace
