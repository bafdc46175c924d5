// While a FakeMode lives on a thread, tensors of cuda:0 made there are fake, and the observer is
// told of every call, allocation and free.
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

/// Where a factory call that names no device makes its tensor.
enum class Factories : std::uint8_t {
  on_device,  ///< A graph's: fake, on cuda:0.
  on_host,    ///< A program's: real, as PyTorch's default device has it.
};

/// What the simulated device answers, and who listens. Modes of several threads are independent.
///
/// Backward runs on the calling thread (as torch.autograd.set_multithreading_enabled(False)): in
/// the same order as on the device thread of a GPU build, and without a race between that thread's
/// last frees and what follows.
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

/// Whether the current mode is a program's (Factories::on_host); outside one it is not.
bool is_in_program();

/// The attention policy of the current mode; null outside one.
const AttentionPolicy* current_attention_policy();

}  // namespace symprof::meta
