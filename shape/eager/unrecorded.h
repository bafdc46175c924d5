// Calls on fake tensors that are none of the program's.
#pragma once

#include <memory>

namespace symprof {

/// While it lives, what this thread does with fake tensors is not recorded, and takes no memory;
/// values that are known are followed. Tensors that are made meanwhile end before it does. They and
/// it end in the reverse order of their beginnings.
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
