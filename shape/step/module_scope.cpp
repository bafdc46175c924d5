#include "shape/step/module_scope.h"

#include "shape/step/module_nodes.h"

namespace symprof {

ModuleScope::ModuleScope(const std::string& name, ScopeNodes nodes) {
  if (auto* current = shape::ModuleNodes::current()) {
    current->open_scope(name, nodes);
    open_ = true;
  }
}

ModuleScope::ModuleScope(const torch::nn::Module& module, ScopeNodes nodes) {
  if (auto* current = shape::ModuleNodes::current()) {
    current->open_scope(module, nodes);
    open_ = true;
  }
}

ModuleScope::~ModuleScope() {
  if (open_) shape::ModuleNodes::current()->close_scope();
}

}  // namespace symprof
