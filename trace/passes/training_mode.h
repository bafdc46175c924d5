// Switches a graph's operators between training and evaluation.
#pragma once

#include "record/step_options.h"
#include "trace/graph/graph.h"

namespace symprof::trace {

enum class TrainingMode { train, eval };

/// The training mode of a step: inference runs operators as in evaluation.
constexpr TrainingMode training_mode(Mode mode) {
  return mode == Mode::train ? TrainingMode::train : TrainingMode::eval;
}

/// Sets the `train` argument of dropout and the `training` argument of batch norm (ATen and ONNX
/// operators), and for `eval` clears the dropout probability of attention. What the file no longer
/// has (a dropout that the exporter removed) is named in graph.warnings.
void set_training_mode(Graph& graph, TrainingMode mode);

/// Casts the graph as if its model had been built in `dtype`: floating-point parameters, buffers,
/// inputs, and the dtype arguments that the exported code takes from a tensor
/// (trace/python/dtypes/recorded_dtypes.h). In an ONNX graph, `dtype` replaces its own type
/// (trace/passes/onnx_dtype.h).
void cast_floating_point(Graph& graph, DType dtype);

}  // namespace symprof::trace
