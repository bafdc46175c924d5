// An observer that is also notified when autograd releases saved tensors.
#pragma once

#include <cstdint>

namespace symprof::meta {

class ReleaseListener {
 public:
  /// An autograd node has released a tensor of `storage` that it saved for backward. May be called
  /// from any thread.
  virtual void on_released(std::int32_t storage) noexcept = 0;

 protected:
  ~ReleaseListener() = default;
};

}  // namespace symprof::meta
