// A call of attention, and the device whose choice it is.
#pragma once

#include <ATen/ATen.h>
#include <ATen/SDPBackend.h>

#include <optional>

#include "base/device_spec.h"

namespace symprof::meta {

/// The device that is asked, and the backend that the user insists on, if any.
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

}  // namespace symprof::meta
