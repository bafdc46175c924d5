// torch/utils/checkpoint.py of PyTorch 2.13, _checkpoint_without_reentrant_generator: its frame,
// holders and two pairs of hooks. Gradients of gradients and repeated backward passes are not
// supported.
#include "shape/step/graph_checkpoint.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/saved_variable.h>

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "base/error.h"
#include "meta/fake/autocast_state.h"
#include "meta/fake/call_cache.h"
#include "meta/fake/saved_tensor_hooks.h"
#include "record/checkpoint_plan.h"

namespace symprof::shape {
namespace {

using Tensors = std::vector<at::Tensor>;
using torch::autograd::SavedVariable;
using torch::autograd::SavedVariableHooks;

// Thrown when the last saved tensor has been recomputed (_StopRecomputationError).
struct EverySavedTensorIsThere {};

// Placeholder of a saved tensor; holds the tensor between recomputation and use.
struct Holder {
  at::Tensor tensor;
};

// One run of the function. Its saved tensors keep the frame alive, and so its inputs.
struct Frame {
  CheckpointedFunction function;
  meta::AutocastState autocast;
  std::optional<meta::CallCache> cache;  // With a policy (create_selective_checkpoint_contexts).
  std::vector<SavedVariable> saved_inputs;
  Tensors of_module;                           // By input; undefined where it is saved.
  std::vector<std::weak_ptr<Holder>> holders;  // In the order of saving.
  std::size_t refilled = 0;                    // The number of holders refilled so far.
  bool is_recomputed = false;

  Tensors inputs() const {
    Tensors found = of_module;
    for (std::size_t i = 0; i < found.size(); ++i)
      if (!found[i].defined()) found[i] = saved_inputs[i].unpack();
    return found;
  }
};

std::set<meta::CallCache::Key> keys_of(const std::vector<std::string>& kept) {
  std::set<meta::CallCache::Key> keys;
  for (const std::string& text : kept) {
    const KeptCall call = parse_kept_call(text);
    keys.emplace(call.op, call.index);
  }
  return keys;
}

void refuse_missing(const meta::CallCache& cache) {
  const auto missing = cache.missing();
  if (missing.empty()) return;
  throw Error("",
              fmt::format("it makes no call {} that the plan keeps",
                          to_string(KeptCall{missing[0].first, missing[0].second})),
              "The plan is of another model, device or setting: make it anew.");
}

// Hooks during recomputation: put the saved tensors into the holders.
class RefillingHooks final : public SavedVariableHooks {
 public:
  explicit RefillingHooks(Frame& frame) : frame_(frame) {}

  void call_pack_hook(const at::Tensor& tensor) override {
    TORCH_CHECK(frame_.refilled < frame_.holders.size(), "checkpoint: the function saves ",
                frame_.holders.size(), " tensors and then more");
    tensor_ = tensor.requires_grad() ? tensor.detach() : tensor;
    if (const auto holder = frame_.holders[frame_.refilled++].lock()) holder->tensor = tensor_;
    if (frame_.refilled == frame_.holders.size()) throw EverySavedTensorIsThere();
  }
  at::Tensor call_unpack_hook() override { return tensor_; }

 private:
  Frame& frame_;
  at::Tensor tensor_;
};

void recompute(Frame& frame) {
  const Tensors inputs = frame.inputs();
  const at::AutoGradMode with_gradients(true);
  const meta::SavedTensorHooks hooks([&] { return std::make_unique<RefillingHooks>(frame); });
  frame.function.run_again([&] {
    const meta::AutocastRegion autocast(frame.autocast);
    const meta::CallCache::Pausing outer;
    std::optional<meta::CallCache::Answering> answering;
    if (frame.cache) answering.emplace(*frame.cache);
    try {
      frame.function.run(inputs);
    } catch (const EverySavedTensorIsThere&) {
    }
  });
  frame.is_recomputed = true;
}

// Hooks during the first run: save no tensors.
class HoldingHooks final : public SavedVariableHooks {
 public:
  explicit HoldingHooks(std::shared_ptr<Frame> frame) : frame_(std::move(frame)) {}

  void call_pack_hook(const at::Tensor&) override { frame_->holders.push_back(holder_); }

  at::Tensor call_unpack_hook() override {
    if (!frame_->is_recomputed) recompute(*frame_);
    TORCH_CHECK(holder_->tensor.defined(), "checkpoint: backward asks for a saved tensor twice");
    return std::exchange(holder_->tensor, at::Tensor());
  }

 private:
  std::shared_ptr<Frame> frame_;
  std::shared_ptr<Holder> holder_ = std::make_shared<Holder>();
};

}  // namespace

Tensors graph_checkpoint(CheckpointedFunction function, const Tensors& inputs) {
  if (!at::GradMode::is_enabled()) return function.run(inputs);
  auto frame = std::make_shared<Frame>();
  frame->function = std::move(function);
  frame->autocast = meta::AutocastState::now();
  if (const std::vector<std::string>& kept = frame->function.kept; !kept.empty())
    frame->cache.emplace(keys_of(kept));
  for (const at::Tensor& input : inputs) {
    const bool is_kept = !input.defined() || frame->function.is_of_module(input);
    frame->of_module.push_back(is_kept ? input : at::Tensor());
    frame->saved_inputs.push_back(is_kept ? SavedVariable() : SavedVariable(input, false));
  }
  const meta::SavedTensorHooks hooks([frame] { return std::make_unique<HoldingHooks>(frame); });
  if (!frame->cache) return frame->function.run(inputs);
  Tensors outputs;
  {
    const meta::CallCache::Keeping keeping(*frame->cache);
    outputs = frame->function.run(inputs);
  }
  refuse_missing(*frame->cache);
  return outputs;
}

}  // namespace symprof::shape
