// Uses of a script function's values, and their Python variables.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace symprof::trace::torchscript {

/// Facts about a function's graph, common to all its calls.
class FunctionLocals {
 public:
  using Values = std::vector<const torch::jit::Value*>;

  /// `traced`: torch.jit.trace wrote the function. The graph must outlive this.
  FunctionLocals(const torch::jit::Block& body, bool traced);

  /// Inputs of the node that are dead once it has taken them.
  const Values& taken_by(const torch::jit::Node& node) const;

  /// Values needed until the last of a node's blocks has run.
  const Values& done_with(const torch::jit::Node& node) const;

  /// The function's variable that the value is bound to; empty if the file has none.
  ///
  /// A script has Python's names, made unique by the code printer: `x`, `x0`, `x1` are one variable
  /// (genUniqueNameFor in torch/csrc/jit/serialization/python_print.cpp). In a trace, a value has
  /// the name in the function that first passes it to an operator (TracingState::getValue in
  /// torch/csrc/jit/frontend/tracer.cpp), possibly another function.
  std::string_view name_of(const torch::jit::Value& value) const;

  /// True if Python may keep the value in a variable that the file does not show: a trace's value
  /// passed only to modules, or to functions other than the module's own.
  bool may_have_name(const torch::jit::Value& value) const { return unsure_.contains(&value); }

  /// True if the function uses the value after its variable is rebound.
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
  std::unordered_map<std::string, std::string> variables_;  // By the name in the code.
  std::unordered_map<const torch::jit::Value*, std::string> names_;
  std::unordered_map<std::string, const torch::jit::Value*> latest_;  // By variable.
  std::unordered_set<const torch::jit::Value*> outliving_, unsure_, nameless_;
};

}  // namespace symprof::trace::torchscript
