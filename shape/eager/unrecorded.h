// Calls on fake tensors that do not belong to the program.
#pragma once

#include <memory>

namespace symprof {

/// While it lives, this thread's calls on fake tensors are not recorded and take no memory; known
/// values are propagated. Tensors created meanwhile must die before it. Instances end in reverse
/// order of their creation.
class Unrecorded {
 public:
  Unrecorded();
  ~Unrecorded();
  Unrecorded(const Unrecorded&) = delete;
  Unrecorded& operator=(const Unrecorded&) = delete;

 private:
  struct Mode;
  std::unique_ptr<Mode> mode_;
};

}  // namespace symprof
