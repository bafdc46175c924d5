// Switches a graph between training and evaluation where its operators say how.
//
// Public header.
#pragma once

#include "record/step_options.h"
#include "trace/graph/graph.h"

namespace symprof::trace {

enum class TrainingMode { train, eval };

/// What a step's mode makes of the operators: inference runs them as evaluation does.
constexpr TrainingMode training_mode(Mode mode) {
  return mode == Mode::train ? TrainingMode::train : TrainingMode::eval;
}

/// Sets the `train` argument of dropout and the `training` argument of batch norm (ATen and ONNX
/// operators), and for `eval` clears the dropout probability of attention. What the file no longer
/// says (a dropout that the exporter removed) is put into graph.warnings.
void set_training_mode(Graph& graph, TrainingMode mode);

/// The graph as if its model had been built in `dtype`: floating-point parameters, buffers and
/// inputs have it, and the operators that were exported with the model's dtype where the code takes
/// that of a tensor (trace/passes/recorded_dtypes.h). An ONNX graph has it in the place of its own
/// type (trace/passes/onnx_dtype.h).
void cast_floating_point(Graph& graph, DType dtype);

}  // namespace symprof::trace
