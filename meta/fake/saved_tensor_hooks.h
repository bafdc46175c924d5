// Custom hooks for tensors saved by autograd, as torch.autograd.graph.saved_tensors_hooks in
// Python.
#pragma once

#include <torch/csrc/autograd/saved_variable_hooks.h>

#include <functional>
#include <memory>

namespace symprof::meta {

/// While it lives, `make` creates the hooks of each tensor that autograd saves on this thread under
/// a FakeMode; the innermost instance counts. Tensors kept by the hooks are not reported.
class SavedTensorHooks {
 public:
  using Make = std::function<std::unique_ptr<torch::autograd::SavedVariableHooks>()>;

  explicit SavedTensorHooks(Make make);
  ~SavedTensorHooks();
  SavedTensorHooks(const SavedTensorHooks&) = delete;
  SavedTensorHooks& operator=(const SavedTensorHooks&) = delete;

  /// The `make` of this thread's innermost instance; null if there is none.
  static const Make* innermost();

 private:
  Make make_;
  const SavedTensorHooks* before_;
};

}  // namespace symprof::meta
