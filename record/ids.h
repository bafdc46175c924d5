// How the parts of a recorded step refer to each other, and the phases of a step.
//
// Public header.
#pragma once

#include <cstdint>

namespace symprof {

using StorageId = std::int32_t;  ///< Index into Recording::storages.
using CallId = std::int32_t;     ///< Index into Recording::calls.
using NodeId = std::int32_t;     ///< Index into Recording::nodes.
constexpr std::int32_t none = -1;

enum class Phase : std::uint8_t {
  forward,
  loss,
  backward,
  recompute,  ///< Forward again inside backward: what checkpointing did not keep.
  optimizer,
};

/// Whether autograd's engine is running.
constexpr bool is_in_backward(Phase phase) {
  return phase == Phase::backward || phase == Phase::recompute;
}

}  // namespace symprof
