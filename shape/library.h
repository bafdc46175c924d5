// Access to this library from a program without LibTorch: one C symbol, looked up with dlsym,
// returns its functions.
#pragma once

#include "record/operator_call.h"
#include "record/recording.h"
#include "record/step_options.h"
#include "trace/graph/graph.h"
#include "trace/passes/other_batch.h"
#include "trace/torchscript/load.h"
#include "trace/torchscript/weights.h"

namespace symprof::shape {

struct Library {
  Recording (*propagate)(const Graph& graph, const StepOptions& options);
  Graph (*load_torchscript)(const std::string& path, const trace::TorchScriptOptions& options);
  trace::BatchPlan (*find_batch_plan)(const Graph& graph, const StepOptions& options);
  /// ONNX operators that can be lowered, sorted.
  std::vector<std::string> (*lowered_operators)();
  trace::WeightValues (*load_torchscript_weights)(const std::string& path);
  std::vector<Recording> (*run_calls)(const std::vector<OperatorCall>& calls,
                                      const StepOptions& options);
};

/// Name of the symbol in libsymprof_torch.so; its type is LibraryFunction.
constexpr const char* library_symbol = "symprof_torch_library";
using LibraryFunction = const Library* (*)();

}  // namespace symprof::shape
