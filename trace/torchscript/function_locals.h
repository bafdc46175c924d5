// What a function of a script needs its values for, and what Python calls them.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace symprof::trace::torchscript {

/// Facts about a function's graph that hold for each of its calls.
class FunctionLocals {
 public:
  using Values = std::vector<const torch::jit::Value*>;

  /// `traced`: torch.jit.trace wrote the function. The graph must outlive this.
  FunctionLocals(const torch::jit::Block& body, bool traced);

  /// Inputs of the node that nothing needs once it has taken them.
  const Values& taken_by(const torch::jit::Node& node) const;

  /// Values that a node's blocks need until the last of them has run.
  const Values& done_with(const torch::jit::Node& node) const;

  /// The variable of the function that the value is bound to; empty where the file names none.
  ///
  /// A script's names are Python's. The printer of code makes them different from one another:
  /// `x`, `x0`, `x1` are one (genUniqueNameFor in torch/csrc/jit/serialization/python_print.cpp). A
  /// trace names a value as the function does that first calls an operator with it
  /// (TracingState::getValue in torch/csrc/jit/frontend/tracer.cpp), which may be another one.
  std::string_view name_of(const torch::jit::Value& value) const;

  /// Whether Python may have a name for the value that the file does not have: a trace's value that
  /// only modules are given, or functions other than the module's own.
  bool may_have_name(const torch::jit::Value& value) const { return unsure_.contains(&value); }

  /// Whether the function needs the value after its variable was bound anew.
  bool outlives_name(const torch::jit::Value& value) const { return outliving_.contains(&value); }

 private:
  void add_block(const torch::jit::Block& block);
  void find_unsure(const torch::jit::Block& block);
  void name(const torch::jit::Value& value);
  void add_value(const torch::jit::Value& value);
  void find_last(const torch::jit::Value& value, const torch::jit::Block& block);
  std::string variable_of(const torch::jit::Value& value, const std::string& printed) const;
  void name_unused(const torch::jit::Node& node);

  bool traced_;
  std::unordered_map<const torch::jit::Node*, Values> taken_, done_;
  std::unordered_map<std::string, std::string> variables_;  // By the name that the code has.
  std::unordered_map<const torch::jit::Value*, std::string> names_;
  std::unordered_map<std::string, const torch::jit::Value*> latest_;  // By variable.
  std::unordered_set<const torch::jit::Value*> outliving_, unsure_, nameless_;
};

}  // namespace symprof::trace::torchscript
