// While a FakeMode lives on a thread, tensors created there on cuda:0 are fake, and the observer is
// notified of every call, allocation and free.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/AutogradState.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <c10/util/ThreadLocalDebugInfo.h>

#include <memory>

#include "meta/fake/current_mode.h"
#include "meta/fake/observer.h"

namespace symprof::meta {

/// While a FakeMode lives, this thread's operator calls run on the simulated device and are
/// reported to `observer`. Modes of several threads are independent.
///
/// Backward runs on the calling thread (as torch.autograd.set_multithreading_enabled(False)): in
/// the same order as on the device thread of a GPU build, and without a race between that thread's
/// last frees and later calls.
class FakeMode {
 public:
  FakeMode(AttentionPolicy attention, std::shared_ptr<Observer> observer,
           Factories factories = Factories::on_device);
  ~FakeMode();
  FakeMode(const FakeMode&) = delete;
  FakeMode& operator=(const FakeMode&) = delete;

 private:
  c10::DebugInfoGuard debug_info_;
  c10::impl::IncludeDispatchKeyGuard include_fake_;
  c10::AutogradState saved_autograd_state_;
};

}  // namespace symprof::meta
