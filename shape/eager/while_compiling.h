// Hides the tensors of a compiler from the recording of a program.
#pragma once

#include <memory>

namespace symprof {

/// While a WhileCompiling lives, tensors that autograd saves on this thread are not reported: a
/// compiler traces with tensors of its own. Scopes must nest.
class WhileCompiling {
 public:
  WhileCompiling();
  ~WhileCompiling();
  WhileCompiling(const WhileCompiling&) = delete;
  WhileCompiling& operator=(const WhileCompiling&) = delete;

 private:
  struct Hooks;
  std::unique_ptr<Hooks> hooks_;
};

}  // namespace symprof
