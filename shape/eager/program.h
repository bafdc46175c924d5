// A program that runs itself under a fake mode, such as a training script in Python: every operator
// call that it makes is a node of the module whose code runs.
//
// Public header.
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

/// Tells where the program's own code is that runs now ("train.py:42"); empty where it has none.
using PlaceOfProgram = std::function<std::string()>;

/// While it lives, tensors of cuda:0 made on this thread are fake, and what the program does with
/// them is recorded. The face of the program's language says what only it knows: which module's
/// code runs, when backward runs, what the optimizer updates.
class EagerProgram {
 public:
  /// Of `options` the device, the attention backend and the precision of products count: all else
  /// is the program's business.
  EagerProgram(const StepOptions& options, PlaceOfProgram place);
  ~EagerProgram();
  EagerProgram(const EagerProgram&) = delete;
  EagerProgram& operator=(const EagerProgram&) = delete;

  /// What reports call the program.
  void set_name(const std::string& name);

  /// The name of a model whose modules' paths begin with it; where there is one model, reports
  /// leave it out.
  void add_root(const std::string& name);
  /// `path` is that of the module ("model.layers.0"); empty for one outside of every model.
  void enter_module(const std::string& path, const std::string& type);
  void leave_module();
  /// Around each run of autograd's engine; runs inside runs (reentrant checkpoints) are counted.
  /// `makes_graph`: backward itself is recorded by autograd (create_graph=True).
  void enter_backward(bool makes_graph);
  void leave_backward();
  /// Around an update of `optimizer`. A step of the loop ends with it, or with the backward
  /// pass that it runs in. An optimizer may call a closure, which runs forward and backward.
  void enter_optimizer(const ProgramOptimizer& optimizer);
  void leave_optimizer();
  void enter_closure();
  void leave_closure();
  /// The program says that a step ends here; then updates end none.
  void mark_step();

  /// Says what tensors are for; real ones are passed over. A tensor may be said again.
  /// `parts` are the tensors in which the parameter's `elements` lie: the parameter itself, or what
  /// is inside of a tensor subclass.
  void add_parameter(const at::Tensor& parameter, const std::vector<at::Tensor>& parts,
                     std::int64_t elements);
  void add_buffer(const at::Tensor& buffer);
  void add_input(const at::Tensor& input);
  void add_gradient(const at::Tensor& gradient, const at::Tensor& parameter);
  /// An undefined `parameter`: a state of no one parameter.
  void add_optimizer_state(const at::Tensor& state, const at::Tensor& parameter);

  /// The program resized a storage itself; one that is not of a fake tensor is passed over.
  static void resized(const c10::Storage& storage);
  /// The program gives cached memory back to the device (torch.cuda.empty_cache).
  void empty_cache();
  /// `tell` is called before the device gives its first block: settings of the environment are read
  /// then.
  void before_first_block(std::function<void()> tell);
  /// What is held at a time beyond so many bytes is refused as PyTorch's allocator refuses it.
  void limit_memory(std::optional<std::int64_t> bytes);
  /// Adds a sentence to the report's warnings, once.
  void warn(const std::string& sentence);
  /// From now on `raise` throws the exception of the program's language for a call that is refused.
  static void raise_errors_by(std::function<void(const Error&)> raise);
  /// Whether the tensor has no storage.
  static bool has_no_values(const at::Tensor& tensor);
  /// Whether an upper bound stands for one of its sizes, which depends on data.
  static bool has_upper_bound_size(const at::Tensor& tensor);
  /// Says the numbers of a tensor without storage: `values` is real, of its dtype and sizes.
  static void give_values(const at::Tensor& tensor, const at::Tensor& values);
  /// Which line got a stand-in last for what only data tell; empty where none did.
  std::string last_stand_in() const;

  /// What was recorded until now; its kinds of storages may still change.
  const Recording& recording() const;
  /// Steps that have ended (record/program_parts.h).
  std::size_t steps() const;
  /// Ends the fake mode, and gives all that was recorded.
  ProgramRecording take();

 private:
  class Run;
  std::unique_ptr<Run> run_;
};

}  // namespace symprof
