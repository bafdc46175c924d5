// The fake mode of the current thread, for code that runs inside of one (meta/fake/fake_mode.h).
#pragma once

#include <c10/util/ThreadLocalDebugInfo.h>

#include <cstdint>
#include <memory>

#include "meta/attention/attention_call.h"
#include "meta/fake/observer.h"

namespace symprof::meta {

/// The device of tensors that a factory call makes without naming a device.
enum class Factories : std::uint8_t {
  on_device,  ///< For a graph: fake tensors on cuda:0.
  on_host,    ///< For a program: real tensors, on PyTorch's default device.
};

/// The settings of a mode, and the observer of its calls.
struct ModeInfo final : c10::DebugInfoBase {
  AttentionPolicy attention;
  std::shared_ptr<Observer> observer;
  Factories factories = Factories::on_device;
  std::shared_ptr<void>
      beside_cuda;  ///< State that the mode needs if LibTorch has its CUDA library; may be null.
};

/// LibTorch's slot for the mode, otherwise used only by inference servers. It is an enumeration in
/// 2.11 and an object in 2.13; this name exists in both.
inline auto mode_slot() { return c10::DebugInfoKind::INFERENCE_CONTEXT; }

/// True if the current mode is a program's (Factories::on_host); false outside of a mode.
bool is_in_program();

/// The attention policy of the current mode; null outside one.
const AttentionPolicy* current_attention_policy();

}  // namespace symprof::meta
