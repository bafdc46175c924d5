// A guard for kernels that are called below autograd and themselves call other operators.
#pragma once

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/grad_mode.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

namespace symprof::kernels {

/// Enables autograd's keys, where composite operators are decomposed, without recording gradients.
class WithoutGradients {
  at::NoGradGuard no_grad_;
  c10::impl::LocalDispatchKeySet keys_ = c10::impl::tls_local_dispatch_key_set();
  c10::impl::ForceDispatchKeyGuard guard_{keys_.included_,
                                          keys_.excluded_ - c10::autograd_dispatch_keyset};
};

}  // namespace symprof::kernels
