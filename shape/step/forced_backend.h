// The attention backend forced for a step, as LibTorch's enumeration.
#pragma once

#include <ATen/SDPBackend.h>

#include <optional>

#include "record/step_options.h"

namespace symprof::shape {

/// Empty for `automatic`.
inline std::optional<at::SDPBackend> forced_backend(AttentionBackend backend) {
  switch (backend) {
    case AttentionBackend::automatic:
      return std::nullopt;
    case AttentionBackend::math:
      return at::SDPBackend::math;
    case AttentionBackend::flash:
      return at::SDPBackend::flash_attention;
    case AttentionBackend::efficient:
      return at::SDPBackend::efficient_attention;
    case AttentionBackend::cudnn:
      return at::SDPBackend::cudnn_attention;
  }
  return std::nullopt;
}

}  // namespace symprof::shape
