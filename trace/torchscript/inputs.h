// Inputs of a script, from its schema, its example and the user's options.
#pragma once

#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue.h>

#include <vector>

#include "trace/torchscript/graph_recorder.h"
#include "trace/torchscript/options.h"

namespace symprof::trace::torchscript {

/// Adds the inputs of `forward` (its first argument, the module, left out) to `graph` and binds
/// them. `example`: torch.jit.trace's example inputs, may be empty. Throws Error that names all
/// inputs without a shape.
void declare_inputs(Graph& graph, const c10::FunctionSchema& forward,
                    const std::vector<c10::IValue>& example, const TorchScriptOptions& options);

/// Arguments of `forward` after the module: a fake tensor or a number per input, or the default.
std::vector<c10::IValue> make_arguments(const Graph& graph, const c10::FunctionSchema& forward,
                                        GraphRecorder& recorder);

}  // namespace symprof::trace::torchscript
