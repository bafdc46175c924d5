// The nodes of executed code, a C++ module or a Python program: one for each of its own operator
// calls.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "shape/step/recorder.h"

namespace symprof::shape {

/// The defined tensors among a call's arguments or results, including those in lists and tuples.
std::vector<at::Tensor> tensors_of(std::span<const c10::IValue> values);

/// Adds the inputs of a node as its call begins: the tensors that it did not create itself.
void add_call_inputs(NodeId node, const std::vector<at::Tensor>& tensors, Recorder& recorder);

/// Creates the nodes of calls and tracks their modules.
class CallNodes {
 public:
  explicit CallNodes(Recorder& recorder) : recorder_(recorder) {}

  /// The index in Recording::modules of the module with this path; a new module gets `type`.
  /// Enclosing modules are added too, as a node's figures fold into all of them.
  std::int32_t module_at(const std::string& path, const std::string& type);
  /// Adds a node named after the operator, numbered from the second one of that name on.
  NodeId add(const std::string& op, std::int32_t module);
  /// Adds a node whose operator is not known yet; `name` gives it one.
  NodeId add_unnamed();
  void name(NodeId node, const std::string& op, std::int32_t module);
  /// Names begin anew.
  void restart_names() { names_.clear(); }

 private:
  Recorder& recorder_;
  std::map<std::string, std::int32_t> paths_;
  std::map<std::string, int> names_;
};

}  // namespace symprof::shape
