// The nodes of a program that runs itself: one for each operator call of its own.
#pragma once

#include <ATen/record_function.h>

#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "record/program_recording.h"
#include "shape/step/call_nodes.h"
#include "shape/step/recorder.h"

namespace symprof::shape {

/// Listens to the calls of this thread above autograd (a call that makes other calls is one node),
/// and tells the recorder whose turn it is.
class ProgramNodes {
 public:
  ProgramNodes(Recorder& recorder, std::function<std::string()> place);
  ~ProgramNodes();
  ProgramNodes(const ProgramNodes&) = delete;
  ProgramNodes& operator=(const ProgramNodes&) = delete;

  void enter_module(const std::string& path, const std::string& type);
  void leave_module();
  void enter_backward();
  void leave_backward();
  void enter_optimizer();
  void leave_optimizer();

  /// The steps until now, the unfinished one included.
  std::vector<ProgramStep> steps() const;
  std::size_t finished_steps() const { return steps_.size() - 1; }

 private:
  // A module, an operator and a line of the program: calls that run again are found by them.
  using Place = std::tuple<std::int32_t, std::string, std::string>;

  static std::unique_ptr<at::ObserverContext> on_begin(const at::RecordFunction& function);
  static void on_end(const at::RecordFunction& function, at::ObserverContext* context);
  void begin_call(const at::RecordFunction& function);
  void end_call(const at::RecordFunction& function);
  void take_over(const std::vector<at::Tensor>& inputs);
  void begin_in_backward(const std::string& op);
  void start_step();
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
  std::function<std::string()> place_;
  ProgramNodes* outer_ = nullptr;
  at::CallbackHandle callback_;
  int depth_ = 0, backward_depth_ = 0, optimizer_depth_ = 0;
  bool is_after_backward_ = false;  // Of the running step.
  bool recomputes_ = false;
  bool touches_device_ = false;   // The running call.
  bool comes_from_host_ = false;  // The running call copies from real tensors, in no module.
  NodeId node_ = none;            // The node of the outermost call that runs.
  NodeId optimizer_ = none;       // The running step's.
  std::vector<std::int32_t> modules_;
  std::map<Place, std::vector<NodeId>> nodes_at_;  // Of the running step.
  std::vector<NodeId>* nodes_here_ = nullptr;      // Those at the place of the last one.
  std::map<Place, std::size_t> recomputed_;        // Since backward began to run forward again.
  std::vector<ProgramStep> steps_;
};

}  // namespace symprof::shape
