// Other hooks for what autograd saves, as torch.autograd.graph.saved_tensors_hooks gives them in
// Python.
#pragma once

#include <torch/csrc/autograd/saved_variable_hooks.h>

#include <functional>
#include <memory>

namespace symprof::meta {

/// For as long as this lives, `make` makes the hooks of each tensor that autograd saves on this
/// thread under a FakeMode; the innermost of several counts. What the hooks keep is not reported.
class SavedTensorHooks {
 public:
  using Make = std::function<std::unique_ptr<torch::autograd::SavedVariableHooks>()>;

  explicit SavedTensorHooks(Make make);
  ~SavedTensorHooks();
  SavedTensorHooks(const SavedTensorHooks&) = delete;
  SavedTensorHooks& operator=(const SavedTensorHooks&) = delete;

  /// The `make` of the innermost one on this thread; null where there is none.
  static const Make* innermost();

 private:
  Make make_;
  const SavedTensorHooks* before_;
};

}  // namespace symprof::meta
