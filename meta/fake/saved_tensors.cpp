#include "meta/fake/saved_tensors.h"

#include <ATen/ATen.h>
#include <ATen/EmptyTensor.h>
#include <ATen/SequenceNumber.h>
#include <fmt/format.h>
#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/autograd/functions/accumulate_grad.h>
#include <torch/csrc/autograd/graph_task.h>
#include <torch/csrc/autograd/saved_variable_hooks.h>
#if __has_include(<torch/csrc/autograd/node.h>)
#include <torch/csrc/autograd/node.h>  // From 2.12 on; before, graph_task.h has get_current_node.
#endif

#include <atomic>
#include <mutex>
#include <string>
#include <type_traits>
#include <utility>

#include "base/error.h"
#include "meta/fake/convert.h"
#include "meta/fake/fake_tensor.h"
#include "meta/fake/inner_tensors.h"
#include "meta/fake/release_listener.h"
#include "meta/fake/saved_tensor_hooks.h"

namespace symprof::meta {
namespace {

// Does what SavedVariable does without hooks (torch/csrc/autograd/saved_variable.cpp): holds a leaf
// itself, so that `leaf.data = …` frees its storage (ZeRO-3, offloaded weights); any other tensor
// without its grad_fn, which would create a cycle; and checks the version.
struct ReportingHooks final : torch::autograd::SavedVariableHooks {
  explicit ReportingHooks(std::shared_ptr<Observer> observer)
      : observer_(std::move(observer)),
        listener_(dynamic_cast<ReleaseListener*>(observer_.get())) {}
  ReportingHooks(const ReportingHooks&) = delete;
  ReportingHooks& operator=(const ReportingHooks&) = delete;
  ~ReportingHooks() override {
    if (listener_ == nullptr) return;
    for (const std::int32_t storage : storages_) listener_->on_released(storage);
  }

  void call_pack_hook(const at::Tensor& tensor) override {
    tensor_ = tensor.is_leaf() ? tensor : tensor.tensor_data();
    version_ = tensor._version();
    storages_ = storages_of(tensor);
    for (const std::int32_t storage : storages_) observer_->on_saved(storage);
  }

  at::Tensor call_unpack_hook() override {
    if (tensor_._version() == version_) return tensor_;
    observer_->on_backward_refused();
    throw Error("",
                fmt::format("{} was saved here for backward and changed in place later, which "
                            "autograd refuses",
                            to_string(spec_of(tensor_))),
                "Change a clone of it, or use an operator that is not in place; " +
                    setting("mode", "inference") + " profiles the forward pass alone.");
  }

 private:
  std::shared_ptr<Observer> observer_;
  ReleaseListener* listener_;
  at::Tensor tensor_;
  std::int64_t version_ = 0;
  c10::SmallVector<std::int32_t, 1> storages_;
};

// Both copies are calls of the node that saves, or whose backward unpacks. The host tensor is
// row-major, as from torch.empty, whatever the source's strides: a view becomes small, an expanded
// tensor large.
struct OffloadingHooks final : torch::autograd::SavedVariableHooks {
  explicit OffloadingHooks(std::shared_ptr<Observer> observer) : observer_(std::move(observer)) {}

  void call_pack_hook(const at::Tensor& tensor) override {
    device_ = tensor.device();
    if (!is_fake(tensor)) {
      packed_ = tensor.detach();
      return;
    }
    const at::Tensor meta(
        at::detail::empty_meta(tensor.sizes(), tensor.scalar_type(), at::MemoryFormat::Contiguous));
    packed_ = wrap_meta(meta, c10::Device(c10::kCPU), observer_);
    observer_->on_offloaded(storage_id(packed_));
    packed_.copy_(tensor, /*non_blocking=*/true);
  }

  at::Tensor call_unpack_hook() override {
    return packed_.to(device_, packed_.scalar_type(), /*non_blocking=*/true);
  }

 private:
  std::shared_ptr<Observer> observer_;
  c10::Device device_{c10::kCPU};
  at::Tensor packed_;
};

thread_local bool saves_on_cpu = false;

// c10::intrusive_ptr<Node>; in LibTorch 2.11 std::shared_ptr<Node>.
using NodePointer = std::remove_cvref_t<decltype(torch::autograd::get_current_node())>;

// The previous engine; in a Python process, Python's.
std::atomic<torch::autograd::Engine*> other_engine = nullptr;

// Forwards everything except saved-tensor hooks to the previous engine: Python casts an engine's
// nodes to its own classes (torch/csrc/autograd/python_cpp_function.cpp reads a node's metadata as
// PyAnomalyMetadata) and releases the GIL while the engine runs. A program's own hooks, known to
// Python's engine, take precedence over the reporting ones.
struct ReportingEngine final : torch::autograd::Engine {
  static torch::autograd::Engine& other() { return *other_engine.load(); }

  torch::autograd::variable_list execute(const torch::autograd::edge_list& roots,
                                         const torch::autograd::variable_list& inputs,
                                         bool keep_graph, bool create_graph, bool accumulate_grad,
                                         const torch::autograd::edge_list& outputs) override {
    return other().execute(roots, inputs, keep_graph, create_graph, accumulate_grad, outputs);
  }

  c10::intrusive_ptr<at::ivalue::Future> execute_with_graph_task(
      const std::shared_ptr<torch::autograd::GraphTask>& task, NodePointer root,
      torch::autograd::InputBuffer&& inputs) override {
    return other().execute_with_graph_task(task, std::move(root), std::move(inputs));
  }

  std::unique_ptr<torch::autograd::AnomalyMetadata> make_anomaly_metadata() override {
    return other().make_anomaly_metadata();
  }

  void thread_on_exception(const std::shared_ptr<torch::autograd::GraphTask>& task,
                           const NodePointer& node, std::exception& error) override {
    other().thread_on_exception(task, node, error);
  }

  void thread_init(int device, const std::shared_ptr<torch::autograd::ReadyQueue>& queue,
                   bool should_increment) override {
    other().thread_init(device, queue, should_increment);
  }

  std::unique_ptr<torch::autograd::SavedVariableHooks> get_default_saved_variable_hooks() override {
    if (auto hooks = other().get_default_saved_variable_hooks()) return hooks;
    auto observer = current_observer();
    if (!observer) return nullptr;
    if (const auto* make = SavedTensorHooks::innermost()) return (*make)();
    if (saves_on_cpu) return std::make_unique<OffloadingHooks>(std::move(observer));
    return std::make_unique<ReportingHooks>(std::move(observer));
  }
};

// Never destroyed, like LibTorch's engine: its threads may outlive static destruction.
torch::autograd::Engine& reporting_engine() {
  static auto* engine = new ReportingEngine;
  return *engine;
}

}  // namespace

void install_saved_tensor_observer() {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  torch::autograd::Engine& engine = torch::autograd::Engine::get_default_engine();
  if (&engine == &reporting_engine()) return;
  other_engine = &engine;
  torch::autograd::set_default_engine_stub(&reporting_engine);
}

SaveOnCpu::SaveOnCpu(bool active) : before_(saves_on_cpu) {
  if (active) saves_on_cpu = true;
}

SaveOnCpu::~SaveOnCpu() { saves_on_cpu = before_; }

std::uint64_t next_sequence_number() { return at::sequence_number::peek(); }

std::optional<BackwardNode> current_backward_node() {
  const auto node = torch::autograd::get_current_node();
  if (!node) return std::nullopt;
  BackwardNode result{node->sequence_nr(), -1};
  if (const auto* accumulate = dynamic_cast<const torch::autograd::AccumulateGrad*>(&*node))
    result.leaf_storage = storage_id(accumulate->variable);
  return result;
}

// prod_backward (torch/csrc/autograd/FunctionsManual.cpp), cumprod_backward (native/ReduceOps.cpp).
bool backward_counts_zeros() {
  const auto node = torch::autograd::get_current_node();
  const std::string name = node ? node->name() : "";
  return name == "ProdBackward0" || name == "ProdBackward1" || name == "CumprodBackward0";
}

}  // namespace symprof::meta
