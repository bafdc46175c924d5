// Runs a script's code once, node by node, and has each operator on tensors recorded.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "trace/interpreter/regions.h"
#include "trace/torchscript/graph_recorder.h"
#include "trace/torchscript/module_tree.h"

namespace symprof::trace::torchscript {

/// Branches, loops and calls follow the values at hand: numbers are real, tensors are fake. Needs a
/// FakeMode around it.
class Walker {
 public:
  /// `constants_are_whole`: small tensors among the code's constants may be read. `most_steps`: as
  /// in TorchScriptOptions.
  Walker(Graph& graph, GraphRecorder& recorder, const ModuleTree& modules, bool constants_are_whole,
         std::int64_t most_steps);

  /// Calls a method of a module in `scope`. Throws Error that names the operator and the
  /// line of the archive's code.
  c10::IValue call_method(const c10::IValue& object, const std::string& method,
                          std::vector<c10::IValue> arguments, ScopeId scope);

 private:
  struct Frame {
    ScopeId scope = 0;
    const c10::ivalue::Object* self = nullptr;
    std::unordered_map<const torch::jit::Value*, c10::IValue> values;
  };
  using Handler = void (Walker::*)(const torch::jit::Node&, Frame&);
  static Handler find_handler(c10::Symbol kind);

  c10::IValue call(torch::jit::Function& function, std::vector<c10::IValue> arguments,
                   ScopeId scope, const c10::ivalue::Object* self);
  void run_block(const torch::jit::Block& block, Frame& frame);
  void run_node(const torch::jit::Node& node, Frame& frame);

  void run_if(const torch::jit::Node& node, Frame& frame);
  void run_loop(const torch::jit::Node& node, Frame& frame);
  void run_call_method(const torch::jit::Node& node, Frame& frame);
  void run_call_function(const torch::jit::Node& node, Frame& frame);
  void run_fork(const torch::jit::Node& node, Frame& frame);
  void run_enter(const torch::jit::Node& node, Frame& frame);
  void run_exit(const torch::jit::Node& node, Frame& frame);
  void run_raise(const torch::jit::Node& node, Frame& frame);
  void run_operator(const torch::jit::Node& node, Frame& frame);

  void add_region(symprof::Node marker, ScopeId scope);
  void count_step();
  static void set(Frame& frame, const torch::jit::Value* value, const c10::IValue& to);
  std::vector<c10::IValue> inputs_of(const torch::jit::Node& node, const Frame& frame) const;
  void set_outputs(const torch::jit::Node& node, Frame& frame, std::vector<c10::IValue> results);
  c10::IValue readable(c10::IValue constant);
  ScopeId scope_of(const c10::ivalue::Object& object, const Frame& caller);
  std::string where(const torch::jit::Node& node) const;

  Graph& graph_;
  GraphRecorder& recorder_;
  const ModuleTree& modules_;
  bool constants_are_whole_;
  std::int64_t most_steps_;
  std::int64_t steps_ = 0;
  int depth_ = 0;
  Regions regions_;
  std::map<std::string, int> calls_;                                  // Of a module, by its path.
  std::unordered_map<const at::TensorImpl*, at::Tensor> unreadable_;  // Stand-ins for constants.
};

}  // namespace symprof::trace::torchscript
