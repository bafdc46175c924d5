// Access to real-tensor execution for a program without LibTorch: one C symbol, looked up with
// dlsym, as in shape/library.h.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "measure/kernel_runner.h"
#include "measure/real/leaf_values.h"
#include "measure/run.h"
#include "record/step_options.h"
#include "trace/graph/graph.h"

namespace symprof::measure {

struct Library {
  /// Runs a prepared graph on a device and times it. Throws Error that names the node.
  Run (*run_on_device)(const Graph& graph, const StepOptions& step, const RunOptions& options);
  /// Runs single kernels on a device ("cpu", "cuda:0"). Throws Error (not_available) if there is no
  /// such device.
  std::unique_ptr<KernelRunner> (*time_kernels)(const std::string& device);
  /// The values of a graph's outputs on the CPU (values.h).
  OutputValues (*values_of)(const Graph& graph, const LeafValues& leaves);
  /// The values of every result, node by node (values.h).
  void (*stream_values)(const Graph& graph, const LeafValues& leaves, const ResultSink& sink);
  /// By ValueId: exclusive upper bound of an integer input (leaves.h).
  std::vector<std::int64_t> (*bounds_of_inputs)(const Graph& graph);
};

/// Name of the symbol in libsymprof_torch.so; its type is LibraryFunction.
constexpr const char* library_symbol = "symprof_measure_library";
using LibraryFunction = const Library* (*)();

}  // namespace symprof::measure
