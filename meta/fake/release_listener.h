// An observer that is also told when autograd lets go of what it saved.
#pragma once

#include <cstdint>

namespace symprof::meta {

class ReleaseListener {
 public:
  /// An autograd node that saved a tensor of `storage` for backward has released it. May come from
  /// any thread.
  virtual void on_released(std::int32_t storage) noexcept = 0;

 protected:
  ~ReleaseListener() = default;
};

}  // namespace symprof::meta
