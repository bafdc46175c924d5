// Ids of the parts of a recorded step, and the phases of a step.
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
  recompute,  ///< Forward recomputed inside backward: activations that checkpointing did not keep.
  optimizer,
};

/// True if autograd's engine is running.
constexpr bool is_in_backward(Phase phase) {
  return phase == Phase::backward || phase == Phase::recompute;
}

}  // namespace symprof
