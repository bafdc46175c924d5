// The nodes of an eager program: one for each of its own operator calls.
#pragma once

#include <ATen/record_function.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "shape/eager/compiled_nodes.h"
#include "shape/eager/part_recorder.h"
#include "shape/step/call_nodes.h"
#include "shape/step/recorder.h"

namespace symprof::shape {

/// Observes this thread's calls above autograd (a call that makes other calls is one node), and
/// sets the recorder's current node.
class ProgramNodes {
 public:
  ProgramNodes(Recorder& recorder, std::function<std::string()> place);
  ~ProgramNodes();
  ProgramNodes(const ProgramNodes&) = delete;
  ProgramNodes& operator=(const ProgramNodes&) = delete;

  void enter_module(const std::string& path, const std::string& type);
  void leave_module();
  /// `makes_graph`: autograd records backward itself (create_graph=True).
  void enter_backward(bool makes_graph);
  void leave_backward();
  void enter_optimizer(const ProgramOptimizer& optimizer);
  void leave_optimizer();
  /// Around the closure that an optimizer calls for the loss.
  void enter_closure();
  void leave_closure();
  /// Around the call of a function that torch.compile compiled, and around the run of its code in
  /// either pass.
  void enter_graph();
  void leave_graph();
  void enter_code();
  void leave_code();
  void at_kernel(const std::string& path) { compiled_.at_kernel(path); }
  /// The program says that a step ends here.
  void mark_step();

  /// Around what the program captures into a CUDA graph.
  void begin_capture();
  void end_capture();
  /// For the node of a part, of calls of no other node or of the update: the current part's.
  std::optional<NodeId> own_node(NodeId node) const;
  /// Adds a node like another one.
  NodeId repeat_node(NodeId node);

  /// The steps so far, including the unfinished one.
  ProgramSteps steps() const {
    return steps_of(parts_.parts(), recorder_.recording(), gradient_free_);
  }
  std::size_t finished_steps() const { return parts_.finished_steps(); }

 private:
  /// Code of autograd's engine, of an optimizer, or of an optimizer's closure.
  enum class Scope : std::uint8_t { backward, optimizer, closure };

  // A module, an operator and a line of the program: identifies calls that are recomputed.
  using Place = std::tuple<std::int32_t, std::string, std::string>;

  static std::unique_ptr<at::ObserverContext> on_begin(const at::RecordFunction& function);
  static void on_end(const at::RecordFunction& function, at::ObserverContext* context);
  void begin_call(const at::RecordFunction& function);
  void end_call(const at::RecordFunction& function);
  bool belongs_to_pass(const std::string& op, const std::vector<at::Tensor>& inputs) const;
  void take_over(const std::vector<at::Tensor>& inputs);
  void begin_in_backward(const std::string& op);
  void begin_in_code(const at::RecordFunction& function, const std::string& op);
  void begin_pass(bool is_gradient_free);
  void begin_tail();
  void end_step(PartEnd end);
  void end_step_of_written_parameters();
  void note_written_parameters(const at::RecordFunction& function, const std::string& op);
  bool is_in(Scope scope) const { return !scopes_.empty() && scopes_.back() == scope; }
  void enter(Scope scope);
  void leave(Scope scope);
  void resume();
  void give_tail_to_optimizer();
  void forget_node();
  NodeId recomputed_node(const Place& place);
  NodeId add_node(const Place& place);
  std::int32_t module_at(const std::string& path, const std::string& type);
  std::int32_t module() const { return modules_.empty() ? 0 : modules_.back(); }
  NodeRecord& record(NodeId node) {
    return recorder_.recording().nodes[static_cast<std::size_t>(node)];
  }

  Recorder& recorder_;
  CallNodes calls_;
  CompiledNodes compiled_{recorder_, calls_};
  std::function<std::string()> place_;
  ProgramNodes* outer_ = nullptr;
  at::CallbackHandle callback_;
  PartRecorder parts_;
  std::vector<Scope> scopes_;
  int depth_ = 0;
  bool makes_graph_ = false;  // Backward is recorded by autograd.
  bool recomputes_ = false, recomputes_graph_ = false;
  bool wrote_parameters_ = false;  // Outside of optimizers, since the part's backward.
  bool updated_in_backward_ = false;
  // Calls since the last backward pass, in no module: they belong to the update, if one follows.
  NodeId tail_node_ = none;
  CallId tail_call_ = none;
  bool touches_device_ = false;        // The current call uses device tensors.
  bool comes_from_host_ = false;       // The current call copies from real tensors, in no module.
  NodeId node_ = none;                 // The node of the current outermost call.
  std::vector<NodeId> gradient_free_;  // Nodes that autograd did not record.
  std::vector<std::int32_t> modules_;
  std::map<Place, std::vector<NodeId>> nodes_at_;  // Of the current step.
  std::vector<NodeId>* nodes_here_ = nullptr;      // Nodes at the place of the last one.
  std::map<Place, std::size_t> recomputed_;        // Since backward began to recompute.
};

}  // namespace symprof::shape
