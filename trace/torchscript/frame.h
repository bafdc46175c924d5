// A call of a script's function: what its values are, and how long Python would hold them.
#pragma once

#include <ATen/core/ivalue.h>
#include <torch/csrc/jit/ir/ir.h>

#include <string_view>
#include <unordered_map>
#include <vector>

#include "trace/graph/graph.h"
#include "trace/torchscript/function_locals.h"

namespace symprof::trace::torchscript {

/// Holds what Python's frame would: a value until its last use, and what a variable is bound to
/// until it is bound anew, or the function returns.
///
/// `residual = x` is not in the code of a script. So a value that is needed after its variable was
/// bound anew is taken to have a second variable, which is bound anew with the next such value of
/// the first.
class Frame {
 public:
  Frame(ScopeId call_scope, const c10::ivalue::Object* module, const FunctionLocals& locals)
      : scope(call_scope), self(module), locals_(locals) {}

  const ScopeId scope;
  const c10::ivalue::Object* const self;  ///< The module whose method runs.

  /// Throws std::out_of_range where the value was not set.
  const c10::IValue& at(const torch::jit::Value* value) const { return values_.at(value); }

  /// The inputs of a node, None for what was not set; what only it needs leaves the frame.
  std::vector<c10::IValue> take_inputs(const torch::jit::Node& node);

  /// Whether Python's frame may have a name for the value that the file does not have.
  bool may_have_name(const torch::jit::Value& value) const { return locals_.may_have_name(value); }

  void set(const torch::jit::Value* value, c10::IValue to);

  /// The node has run, its blocks too.
  void finish(const torch::jit::Node& node);

 private:
  void bind(std::string_view name, const torch::jit::Value* value, const c10::IValue& to);

  const FunctionLocals& locals_;
  std::unordered_map<const torch::jit::Value*, c10::IValue> values_;
  std::unordered_map<std::string_view, c10::IValue> variables_, second_variables_;
};

}  // namespace symprof::trace::torchscript
