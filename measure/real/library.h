// How a program without LibTorch reaches what runs on real tensors: one C symbol, looked up with
// dlsym, as that of shape/library.h.
//
// Public header.
#pragma once

#include <memory>
#include <string>

#include "measure/kernel_runner.h"
#include "measure/run.h"
#include "record/step_options.h"
#include "trace/graph/graph.h"

namespace symprof::measure {

struct Library {
  /// Runs a prepared graph on a device and times it. Throws Error that names the node.
  Run (*run_on_device)(const Graph& graph, const StepOptions& step, const RunOptions& options);
  /// Runs single kernels on a device ("cpu", "cuda:0"). Throws Error (not_available) where there is
  /// no such device.
  std::unique_ptr<KernelRunner> (*time_kernels)(const std::string& device);
};

/// Name of the symbol in libsymprof_torch.so; its type is LibraryFunction.
constexpr const char* library_symbol = "symprof_measure_library";
using LibraryFunction = const Library* (*)();

}  // namespace symprof::measure
