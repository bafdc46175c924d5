// Assigns calls of a C++ program to a named part, for shape/step/module_step.h.
//
// Public header.
#pragma once

#include <string>

#include "shape/step/scope_nodes.h"

namespace torch::nn {
class Module;
}

namespace symprof {

/// While it lives, calls belong to `name`, a path such as "encoder.layers.0" inside the scope
/// around it, or to `module`, a part of the module that is profiled. Without a profile it does
/// nothing.
class ModuleScope {
 public:
  explicit ModuleScope(const std::string& name, ScopeNodes nodes = ScopeNodes::per_call);
  explicit ModuleScope(const torch::nn::Module& module, ScopeNodes nodes = ScopeNodes::per_call);
  ~ModuleScope();
  ModuleScope(const ModuleScope&) = delete;
  ModuleScope& operator=(const ModuleScope&) = delete;

 private:
  bool open_ = false;
};

}  // namespace symprof
