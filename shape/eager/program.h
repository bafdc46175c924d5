// A program that runs under a fake mode, such as a Python training script: each operator call of
// its own becomes a node of the module whose code runs.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "record/program_recording.h"
#include "record/step_options.h"

namespace symprof {

/// Returns the line of the program's own code that runs ("train.py:42"); empty if there is none.
using PlaceOfProgram = std::function<std::string()>;

/// While it lives, tensors created on cuda:0 by this thread are fake, and operations on them are
/// recorded. The language front end reports what only it knows: the module whose code runs,
/// backward passes, and the parameters that the optimizer updates.
class EagerProgram {
 public:
  /// Uses only the device, the attention backend and the matmul precision of `options`: all else is
  /// up to the program.
  EagerProgram(const StepOptions& options, PlaceOfProgram place);
  ~EagerProgram();
  EagerProgram(const EagerProgram&) = delete;
  EagerProgram& operator=(const EagerProgram&) = delete;

  /// Sets the program's name in reports.
  void set_name(const std::string& name);

  /// Adds the name of a model, the prefix of its modules' paths; reports omit it if there is only
  /// one model.
  void add_root(const std::string& name);
  /// `path` is the module's path ("model.layers.0"); empty for a module outside of every model.
  void enter_module(const std::string& path, const std::string& type);
  void leave_module();
  /// Around each run of autograd's engine; nested runs (reentrant checkpoints) are counted.
  /// `makes_graph`: autograd records backward itself (create_graph=True).
  void enter_backward(bool makes_graph);
  void leave_backward();
  /// Around an update of `optimizer`. A training step ends with the update, or with the backward
  /// pass that contains it. An optimizer may call a closure that runs forward and backward.
  void enter_optimizer(const ProgramOptimizer& optimizer);
  void leave_optimizer();
  void enter_closure();
  void leave_closure();
  /// Around the call of a function that torch.compile compiled (forward; its autograd node is made
  /// meanwhile).
  void enter_graph();
  void leave_graph();
  /// Around the run of its code, in either pass, which says before each kernel the path of the
  /// module that the kernel was made of: from the module around the function where it begins with a
  /// dot.
  void enter_code();
  void leave_code();
  void at_kernel(const std::string& path);
  /// The program says that a step ends here; then updates end none.
  void mark_step();

  /// Sets the kinds of tensors; real tensors are ignored, and a later call replaces an earlier one.
  /// `parts` are the tensors that hold the parameter's `elements`: the parameter itself, or the
  /// inner tensors of a tensor subclass.
  void add_parameter(const at::Tensor& parameter, const std::vector<at::Tensor>& parts,
                     std::int64_t elements);
  void add_buffer(const at::Tensor& buffer);
  void add_input(const at::Tensor& input);
  void add_gradient(const at::Tensor& gradient, const at::Tensor& parameter);
  /// `parameter` is undefined for a state shared by several parameters.
  void add_optimizer_state(const at::Tensor& state, const at::Tensor& parameter);

  /// The program resized a storage itself; storages of real tensors are ignored.
  static void resized(const c10::Storage& storage);
  /// The program releases cached blocks to the device (torch.cuda.empty_cache).
  void empty_cache();
  /// What follows is captured into a CUDA graph, from `stream` into `pool`. Returns the stream that
  /// is current meanwhile.
  std::int64_t begin_capture(std::int64_t pool, std::int64_t stream);
  /// The same for another stream that takes part in the capture.
  std::int64_t stream_in_capture(std::int64_t stream);
  /// Ends the capture; returns its number.
  std::size_t end_capture();
  /// The captured calls run: their passes, updates and steps count now, and they allocate nothing.
  void replay(std::size_t capture);
  /// The graph is gone, and with the last one of a pool the pool.
  void release_capture(std::size_t capture);
  /// `tell` is called before the first block is allocated on the device: allocator settings of the
  /// environment are read at that point.
  void before_first_block(std::function<void()> tell);
  /// Limits live memory to `bytes`; more raises PyTorch's out-of-memory error.
  void limit_memory(std::optional<std::int64_t> bytes);
  /// Adds a warning to the report, once.
  void warn(const std::string& sentence);
  /// Sets the function that throws the front end's exception for a refused call.
  static void raise_errors_by(std::function<void(const Error&)> raise);
  /// True if the tensor is fake (has no storage).
  static bool has_no_values(const at::Tensor& tensor);
  /// True if one of its sizes is the upper bound of a data-dependent size.
  static bool has_upper_bound_size(const at::Tensor& tensor);
  /// Sets the numbers of a tensor without storage: `values` is real, of its dtype and sizes.
  static void give_values(const at::Tensor& tensor, const at::Tensor& values);
  /// The last line that read an assumed value for a data-dependent number; empty if there is none.
  std::string last_stand_in() const;

  /// The recording so far; storage kinds may still change.
  const Recording& recording() const;
  /// Finished steps (record/program_parts.h).
  std::size_t steps() const;
  /// Ends the fake mode and returns the recording.
  ProgramRecording take();

 private:
  class Run;
  std::unique_ptr<Run> run_;
};

}  // namespace symprof
