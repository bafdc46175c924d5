// While a FakeMode lives on a thread, tensors created there on cuda:0 are fake, and the observer is
// notified of every call, allocation and free.
//
// Public header.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/AutogradState.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <c10/util/ThreadLocalDebugInfo.h>

#include <cstdint>
#include <memory>

#include "meta/attention/attention_choice.h"
#include "meta/fake/observer.h"

namespace symprof::meta {

/// The device of factory calls without a device argument.
enum class Factories : std::uint8_t {
  on_device,  ///< For a graph: fake, on cuda:0.
  on_host,    ///< For a program: real, on PyTorch's default device.
};

/// The simulated device's attention policy and the observer. Modes of several threads are
/// independent.
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

/// True if the current mode is a program's (Factories::on_host); false outside of a mode.
bool is_in_program();

/// The attention policy of the current mode; null outside of one.
const AttentionPolicy* current_attention_policy();

}  // namespace symprof::meta
