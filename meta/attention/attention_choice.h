// PyTorch's choice of the attention kernel, as a function of tensors and device.
//
// Public header.
#pragma once

#include <ATen/ATen.h>
#include <ATen/SDPBackend.h>

#include <optional>

#include "base/device_spec.h"

namespace symprof::meta {

/// The target device, and the backend that the user forces, if any.
struct AttentionPolicy {
  DeviceSpec device;
  std::optional<at::SDPBackend> forced;
};

/// The arguments of scaled_dot_product_attention that the choice depends on. Dense tensors, query
/// [B, H, Lq, D], key [B, Hk, Lk, D], value [B, Hv, Lk, Dv].
struct AttentionCall {
  at::Tensor query, key, value;
  std::optional<at::Tensor> mask;
  double dropout_p = 0;
  bool is_causal = false;
  bool enable_gqa = false;
};

/// The first backend, in the device's order of preference, whose checks all pass; math always
/// passes (native/transformers/cuda/sdp_utils.cpp, select_sdp_backend). Flags of the ATen context
/// that disable backends are respected. Throws Error with the failed check if `policy.forced` names
/// a backend whose checks do not pass.
at::SDPBackend sdp_choice(const AttentionCall& call, const AttentionPolicy& policy);

}  // namespace symprof::meta
