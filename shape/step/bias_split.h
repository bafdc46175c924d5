// Makes bias additions of a C++ module separate nodes.
#pragma once

#include <c10/core/impl/LocalDispatchKeySet.h>

#include <optional>

namespace symprof::shape {

/// While it lives and is active, linear, addmm and convolution calls of this thread compute the
/// product without the bias and then add it, above autograd: two calls, two nodes.
class BiasSplit {
 public:
  explicit BiasSplit(bool active);

 private:
  std::optional<c10::impl::IncludeDispatchKeyGuard> guard_;
};

}  // namespace symprof::shape
