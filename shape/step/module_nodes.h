// The nodes of a C++ module: one for each of its own operator calls, assigned to modules.
#pragma once

#include <ATen/record_function.h>
#include <torch/nn/module.h>

#include <map>
#include <span>
#include <string>
#include <vector>

#include "shape/step/call_nodes.h"
#include "shape/step/recorder.h"
#include "shape/step/scope_nodes.h"

namespace symprof::shape {

/// Observes this thread's calls above autograd (a call that makes other calls is one node) and sets
/// the recorder's current node. At most one is active per thread.
///
/// A call belongs to the module that owns the first parameter or buffer among its arguments; a call
/// without one belongs to the module of the previous call. An open ModuleScope takes precedence,
/// except for modules inside it.
class ModuleNodes {
 public:
  /// The nodes of a checkpoint's forward pass: its own node, then those of the calls inside.
  struct Region {
    NodeId node = none;
    NodeId end = none;
  };

  ModuleNodes(const torch::nn::Module& module, Recorder& recorder);
  ~ModuleNodes();
  ModuleNodes(const ModuleNodes&) = delete;
  ModuleNodes& operator=(const ModuleNodes&) = delete;

  /// The nodes of the module profiled on this thread; null if there is none.
  static ModuleNodes* current();

  NodeId add_input_node(const std::string& name);
  /// Calls between `start` and `stop` create nodes of the module.
  void start() { listening_ = true; }
  void stop() { listening_ = false; }

  void open_scope(const std::string& name, ScopeNodes nodes);
  void open_scope(const torch::nn::Module& module, ScopeNodes nodes);
  void close_scope();

  /// The current call has computed `product` and adds `bias` next: the addition becomes a separate
  /// node.
  void split_node(const at::Tensor& product, const at::Tensor& bias);

  Region begin_checkpoint();
  void end_checkpoint(Region& region);
  /// The following calls repeat those of `region`, in the same order.
  void begin_recompute(const Region& region);
  void end_recompute();

 private:
  struct OpenScope {
    std::int32_t module = 0;
    std::int32_t module_before = 0;
    NodeId node = none;  // The node of a scope with a single node.
  };
  struct Replay {
    Region region;
    NodeId next = none;
    bool was_listening = false;
  };

  static std::unique_ptr<at::ObserverContext> on_begin(const at::RecordFunction& function);
  static void on_end(const at::RecordFunction& function, at::ObserverContext* context);
  void begin_call(const at::RecordFunction& function);
  void end_call(const at::RecordFunction& function);

  std::int32_t module_at(const std::string& path) { return calls_.module_at(path, "scope"); }
  std::int32_t module_of(std::span<const at::Tensor> inputs);
  bool is_inside(std::int32_t module, std::int32_t scope) const;
  void push_scope(std::int32_t module, const std::string& op, ScopeNodes nodes);
  NodeId next_node(const std::string& op, std::int32_t module);
  NodeRecord& record(NodeId node) {
    return recorder_.recording().nodes[static_cast<std::size_t>(node)];
  }

  Recorder& recorder_;
  CallNodes calls_;
  ModuleNodes* outer_ = nullptr;
  at::CallbackHandle callback_;
  bool listening_ = false;
  int depth_ = 0;
  NodeId node_ = none;  // The node of the current outermost call.
  std::int32_t module_ = 0;
  std::map<StorageId, std::int32_t> owners_;
  std::map<const torch::nn::Module*, std::int32_t> module_ids_;
  std::vector<OpenScope> scopes_;
  std::vector<Replay> replays_;
};

}  // namespace symprof::shape
