#include "shape/step/module_scope.h"

#include "shape/step/module_rows.h"

namespace symprof {

ModuleScope::ModuleScope(const std::string& name, ScopeRows rows) {
  if (auto* current = shape::ModuleRows::current()) {
    current->open_scope(name, rows);
    open_ = true;
  }
}

ModuleScope::ModuleScope(const torch::nn::Module& module, ScopeRows rows) {
  if (auto* current = shape::ModuleRows::current()) {
    current->open_scope(module, rows);
    open_ = true;
  }
}

ModuleScope::~ModuleScope() {
  if (open_) shape::ModuleRows::current()->close_scope();
}

}  // namespace symprof
