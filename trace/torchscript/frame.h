// A call frame of a script's function: its values, and how long Python would keep them alive.
#pragma once

#include <ATen/core/ivalue.h>
#include <torch/csrc/jit/ir/ir.h>

#include <string_view>
#include <unordered_map>
#include <vector>

#include "trace/graph/graph.h"
#include "trace/torchscript/function_locals.h"

namespace symprof::trace::torchscript {

/// Keeps alive what Python's frame would: a value until its last use, and a variable's value until
/// it is rebound or the function returns.
///
/// Aliases such as `residual = x` are not in a script's code. So a value needed after its variable
/// is rebound is assumed to have a second variable, rebound to the next such value of the first.
class Frame {
 public:
  Frame(ScopeId call_scope, const c10::ivalue::Object* module, const FunctionLocals& locals)
      : scope(call_scope), self(module), locals_(locals) {}

  const ScopeId scope;
  const c10::ivalue::Object* const self;  ///< The module of the running method.

  /// Throws std::out_of_range where the value was not set.
  const c10::IValue& at(const torch::jit::Value* value) const { return values_.at(value); }

  /// The inputs of a node (None if not set); values needed only by it leave the frame.
  std::vector<c10::IValue> take_inputs(const torch::jit::Node& node);

  /// True if Python's frame may keep the value in a variable that the file does not show.
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
