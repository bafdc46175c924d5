// Runs a script's code once, node by node, and records each tensor operator.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "meta/fake/regions.h"
#include "trace/passes/function_calls.h"
#include "trace/torchscript/frame.h"
#include "trace/torchscript/graph_recorder.h"
#include "trace/torchscript/module_tree.h"
#include "trace/torchscript/python_sources.h"
#include "trace/torchscript/python_stack.h"

namespace symprof::trace::torchscript {

/// Branches, loops and calls follow actual values: numbers are real, tensors are fake. Requires an
/// active FakeMode.
class Walker {
 public:
  /// `traced`: torch.jit.trace wrote the code. `constants_are_whole`: small tensors among the
  /// code's constants may be read. `most_steps`: as in TorchScriptOptions. `sources`: a trace's
  /// Python source, for lifetimes of values; null if not given.
  struct Options {
    bool traced = false;
    bool constants_are_whole = false;
    std::int64_t most_steps = 0;
    PythonSources* sources = nullptr;
  };
  Walker(Graph& graph, GraphRecorder& recorder, const ModuleTree& modules, Options options);

  /// Calls a method of a module in `scope`. Throws Error that names the operator and the
  /// line of the archive's code.
  c10::IValue call_method(const c10::IValue& object, const std::string& method,
                          std::vector<c10::IValue> arguments, ScopeId scope);

  /// The functions of a trace's casts.
  const FunctionCalls& function_calls() const { return function_calls_; }

  /// True if transformers created attention masks while tracing.
  bool makes_masks() const { return makes_masks_; }

  /// Ends the run: closes the regions of decorators.
  void finish();

 private:
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
  void note_function(const torch::jit::Node& node, std::size_t first);
  SourceOfNode enter_regions(const torch::jit::Node& node, ScopeId scope);
  void enter_decorators(const Decorators& decorators, ScopeId scope);
  void count_step();
  const FunctionLocals& locals_of(const torch::jit::Block& body);
  void set_outputs(const torch::jit::Node& node, Frame& frame, std::vector<c10::IValue> results);
  c10::IValue readable(c10::IValue constant);
  ScopeId scope_of(const c10::ivalue::Object& object, const Frame& caller);
  std::string where(const torch::jit::Node& node) const;

  Graph& graph_;
  GraphRecorder& recorder_;
  const ModuleTree& modules_;
  Options options_;
  std::int64_t steps_ = 0;
  int depth_ = 0;
  bool makes_masks_ = false;
  FunctionCalls function_calls_;
  std::unordered_map<std::string, int> stacks_;  // By Python's stack and the module's call.
  Decorators decorators_;                        // Of the last operator, with open regions.
  meta::Regions regions_;
  std::unordered_map<const torch::jit::Block*, FunctionLocals> locals_;
  std::map<std::string, int> calls_;  // Number of calls by module path.
  std::unordered_map<const at::TensorImpl*, at::Tensor> unreadable_;  // Stand-ins for constants.
};

}  // namespace symprof::trace::torchscript
