// The nodes of code that runs itself, a C++ module or a Python program: one for each operator call
// of its own.
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

/// The defined tensors among the arguments or results of a call, in lists and tuples too.
std::vector<at::Tensor> tensors_of(std::span<const c10::IValue> values);

/// Completes a node as its call begins: what it did not make itself is its input.
void add_call_inputs(NodeId node, const std::vector<at::Tensor>& tensors, Recorder& recorder);

/// Makes the nodes of calls, and knows the modules that they are in.
class CallNodes {
 public:
  explicit CallNodes(Recorder& recorder) : recorder_(recorder) {}

  /// The module with this path, an index into Recording::modules; one that is not there yet gets
  /// `type`. Modules around it are added with it: a node folds into all of them.
  std::int32_t module_at(const std::string& path, const std::string& type);
  /// Adds a node called like the operator, with a number from the second of that name on.
  NodeId add(const std::string& op, std::int32_t module);
  /// Names begin anew.
  void restart_names() { names_.clear(); }

 private:
  Recorder& recorder_;
  std::map<std::string, std::int32_t> paths_;
  std::map<std::string, int> names_;
};

}  // namespace symprof::shape
