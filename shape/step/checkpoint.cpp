#include "shape/step/checkpoint.h"

#include <ATen/ATen.h>
#include <ATen/EmptyTensor.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <mutex>
#include <optional>

#include "meta/fake/autocast_state.h"
#include "meta/fake/fake_tensor.h"
#include "shape/step/module_nodes.h"

namespace symprof {
namespace {

using Tensors = std::vector<at::Tensor>;
using shape::ModuleNodes;

at::Tensor state_of(c10::Device device) {
  at::Generator generator = at::globalContext().defaultGenerator(device);
  const std::lock_guard lock(generator.mutex());
  return generator.get_state();
}

// The random state of the host and of the inputs' real CUDA device.
class RandomState {
 public:
  static RandomState of(const Tensors& inputs) {
    RandomState state;
    state.add(c10::Device(c10::kCPU));
    for (const at::Tensor& tensor : inputs)
      if (tensor.defined() && tensor.is_cuda() && !meta::is_fake(tensor)) {
        state.add(tensor.device());
        break;
      }
    return state;
  }

  RandomState now() const {
    RandomState state;
    for (const Entry& entry : entries_) state.add(entry.device);
    return state;
  }

  void restore() const {
    for (const Entry& entry : entries_) {
      at::Generator generator = at::globalContext().defaultGenerator(entry.device);
      const std::lock_guard lock(generator.mutex());
      generator.set_state(entry.state);
    }
  }

 private:
  struct Entry {
    c10::Device device;
    at::Tensor state;
  };
  void add(c10::Device device) { entries_.push_back({device, state_of(device)}); }

  std::vector<Entry> entries_;
};

// The state of a checkpoint besides its inputs.
struct Saved final : torch::CustomClassHolder {
  TensorsFunction function;
  RandomState random;
  meta::AutocastState autocast;
  ModuleNodes::Region region;
};

// Restores the thread state of the first run while it lives.
class Replay {
 public:
  explicit Replay(const Saved& saved)
      : random_before_(saved.random.now()), autocast_(saved.autocast) {
    saved.random.restore();
    nodes_ = saved.region.node == none ? nullptr : ModuleNodes::current();
    if (nodes_ != nullptr) nodes_->begin_recompute(saved.region);
  }
  ~Replay() {
    if (nodes_ != nullptr) nodes_->end_recompute();
    random_before_.restore();
  }
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;

 private:
  RandomState random_before_;
  meta::AutocastRegion autocast_;
  ModuleNodes* nodes_ = nullptr;
};

// The inputs as leaves of a separate graph.
Tensors detached(const Tensors& inputs) {
  Tensors leaves;
  for (const at::Tensor& input : inputs) {
    leaves.push_back(input.defined() ? input.detach() : input);
    if (input.defined()) leaves.back().set_requires_grad(input.requires_grad());
  }
  return leaves;
}

struct CheckpointFunction : torch::autograd::Function<CheckpointFunction> {
  // The last input is extra: it makes the results require a gradient even if only captured
  // parameters do.
  static Tensors forward(torch::autograd::AutogradContext* context,
                         const c10::intrusive_ptr<Saved>& saved, at::TensorList inputs) {
    context->saved_data["checkpoint"] = c10::IValue::make_capsule(saved);
    context->set_materialize_grads(false);
    Tensors given = inputs.vec();
    context->save_for_backward(given);
    given.pop_back();
    return saved->function(given);
  }

  static Tensors backward(torch::autograd::AutogradContext* context, Tensors gradients) {
    TORCH_CHECK(!at::GradMode::is_enabled(), "checkpoint: there are no gradients of gradients");
    const auto holder = context->saved_data["checkpoint"].toCapsule();
    const auto& saved = static_cast<const Saved&>(*holder);
    Tensors leaves = detached(context->get_saved_variables());
    leaves.pop_back();
    run_again(saved, leaves, gradients);
    Tensors result = {at::Tensor()};  // The argument `saved` has no gradient.
    for (const at::Tensor& leaf : leaves)
      result.push_back(leaf.defined() ? leaf.grad() : at::Tensor());
    result.emplace_back();
    return result;
  }

  static void run_again(const Saved& saved, const Tensors& leaves, const Tensors& gradients) {
    const at::AutoGradMode with_gradients(true);
    Tensors outputs;
    {
      const Replay replay(saved);
      outputs = saved.function(leaves);
    }
    TORCH_CHECK(outputs.size() == gradients.size(), "checkpoint: the function gave ",
                gradients.size(), " tensors and then ", outputs.size());
    Tensors roots, root_gradients;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (!outputs[i].defined() || !outputs[i].requires_grad() || !gradients[i].defined()) continue;
      roots.push_back(std::move(outputs[i]));
      root_gradients.push_back(gradients[i]);
    }
    outputs.clear();
    if (!roots.empty()) torch::autograd::backward(roots, root_gradients);
  }
};

}  // namespace

Tensors checkpoint(TensorsFunction function, const Tensors& inputs) {
  if (!at::GradMode::is_enabled()) return function(inputs);
  auto saved = c10::make_intrusive<Saved>();
  saved->function = std::move(function);
  saved->random = RandomState::of(inputs);
  saved->autocast = meta::AutocastState::now();
  Tensors given = inputs;
  // Created below the dispatcher, so it is not recorded as a call of the model.
  given.emplace_back(at::detail::empty_cpu({0}, at::kFloat));
  given.back().set_requires_grad(true);
  ModuleNodes* nodes = ModuleNodes::current();
  if (nodes != nullptr) saved->region = nodes->begin_checkpoint();
  Tensors outputs = CheckpointFunction::apply(saved, at::TensorList(given));
  if (nodes != nullptr && saved->region.node != none) nodes->end_checkpoint(saved->region);
  return outputs;
}

at::Tensor checkpoint(TensorFunction function, const at::Tensor& input) {
  const auto on_lists = [function = std::move(function)](const Tensors& inputs) {
    return Tensors{function(inputs.front())};
  };
  return checkpoint(TensorsFunction(on_lists), Tensors{input}).front();
}

}  // namespace symprof
