// The fake mode of this thread, for whoever is asked inside of one (meta/fake/fake_mode.h).
//
// Public header.
#pragma once

#include <c10/util/ThreadLocalDebugInfo.h>

#include <cstdint>
#include <memory>

#include "meta/attention/attention_call.h"
#include "meta/fake/observer.h"

namespace symprof::meta {

/// Where a factory call that names no device makes its tensor.
enum class Factories : std::uint8_t {
  on_device,  ///< A graph's: fake, on cuda:0.
  on_host,    ///< A program's: real, as PyTorch's default device has it.
};

/// What a mode answers, and who listens.
struct ModeInfo final : c10::DebugInfoBase {
  AttentionPolicy attention;
  std::shared_ptr<Observer> observer;
  Factories factories = Factories::on_device;
  std::shared_ptr<void> beside_cuda;  ///< What the mode needs beside a CUDA library; may be null.
};

/// Where LibTorch keeps it: a slot that nothing else uses outside of inference servers. 2.11 has an
/// enumeration there, 2.13 an object; both know this name.
inline auto mode_slot() { return c10::DebugInfoKind::INFERENCE_CONTEXT; }

/// Whether the current mode is a program's (Factories::on_host); outside one it is not.
bool is_in_program();

/// The attention policy of the current mode; null outside one.
const AttentionPolicy* current_attention_policy();

}  // namespace symprof::meta
