// One step of a C++ module on tensors without storage.
//
// Public header.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <functional>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "record/recording.h"
#include "record/step_options.h"
#include "shape/step/module_scope.h"

namespace symprof::meta {
class FakeMode;  // meta/fake/fake_mode.h
}

namespace symprof::shape {

/// While it lives, tensors that are created on this thread have no storage.
class WithoutStorage {
 public:
  WithoutStorage();
  ~WithoutStorage();
  WithoutStorage(const WithoutStorage&) = delete;
  WithoutStorage& operator=(const WithoutStorage&) = delete;

 private:
  std::unique_ptr<meta::FakeMode> mode_;
};

/// Runs `build` on such tensors: the weights of the module that it creates have no storage.
/// Tensors created from data (torch::tensor(0)) stay real host tensors.
template <class Build>
auto build_fake(Build&& build) {
  const WithoutStorage without_storage;
  return std::forward<Build>(build)();
}

using ForwardFunction = std::function<std::vector<at::Tensor>(const std::vector<at::Tensor>&)>;

/// Records forward, loss, backward and optimizer step of `module`, created by build_fake, whose
/// forward pass is `forward` on fake inputs. The module's code runs, including branches and loops
/// on shapes. Each of its calls is a node, in the module assigned by shape/step/module_nodes.h.
/// Sets the module's training mode to the step's and clears its gradients. Throws Error that names
/// the node if a call is refused, and for a module with real weights.
Recording propagate_module(torch::nn::Module& module, const std::vector<TensorSpec>& inputs,
                           const ForwardFunction& forward, const StepOptions& options);

/// The result of a `forward`, as a list.
inline std::vector<at::Tensor> as_list(at::Tensor tensor) { return {std::move(tensor)}; }
inline std::vector<at::Tensor> as_list(std::vector<at::Tensor> tensors) { return tensors; }
template <class... Tensors>
std::vector<at::Tensor> as_list(const std::tuple<Tensors...>& tensors) {
  return std::apply([](const auto&... each) { return std::vector<at::Tensor>{each...}; }, tensors);
}

/// Records the step of a module in a holder or pointer, whose `forward` takes one tensor for each
/// of `inputs`.
template <class Holder, std::size_t count>
Recording propagate_module(Holder& module, const std::array<TensorSpec, count>& inputs,
                           const StepOptions& options) {
  const auto forward = [&]<std::size_t... index>(std::index_sequence<index...>) {
    return [&](const std::vector<at::Tensor>& x) { return as_list(module->forward(x[index]...)); };
  };
  return propagate_module(*module, {inputs.begin(), inputs.end()},
                          forward(std::make_index_sequence<count>()), options);
}

}  // namespace symprof::shape
