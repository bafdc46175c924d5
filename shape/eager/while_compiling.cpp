#include "shape/eager/while_compiling.h"

#include "meta/fake/saved_tensor_hooks.h"

namespace symprof {

struct WhileCompiling::Hooks {
  meta::SavedTensorHooks none{[] { return nullptr; }};
};

WhileCompiling::WhileCompiling() : hooks_(std::make_unique<Hooks>()) {}
WhileCompiling::~WhileCompiling() = default;

}  // namespace symprof
