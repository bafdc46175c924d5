// What a compiler does with tensors of its own is none of the program's.
#pragma once

#include <memory>

namespace symprof {

/// While it lives, tensors that autograd saves on this thread are not reported: they are those of a
/// compiler that traces. They end in the reverse order of their beginnings.
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
