// Assigns calls of a C++ program to a named part, for shape/step/module_step.h.
//
// Public header.
#pragma once

#include <cstdint>
#include <string>

namespace torch::nn {
class Module;
}

namespace symprof {

enum class ScopeNodes : std::uint8_t {
  per_call,  ///< Every call has its node.
  one,       ///< All calls of the scope are one node: a function that the report shows as a leaf.
};

/// While it lives, calls belong to `name`, a path such as "encoder.layers.0" relative to the
/// enclosing scope, or to `module`, a submodule of the profiled module. No effect outside of a
/// profile.
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
