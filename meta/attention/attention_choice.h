// PyTorch's choice of the attention kernel, as a function of tensors and device.
#pragma once

#include <ATen/ATen.h>
#include <ATen/SDPBackend.h>

#include "meta/attention/attention_call.h"

namespace symprof::meta {

/// The first backend, in the device's order of preference, whose checks all pass; math always does
/// (native/transformers/cuda/sdp_utils.cpp, select_sdp_backend). The flags of the ATen context
/// that switch backends off are respected.
/// Throws Error when `policy.forced` names a backend whose checks do not pass, saying which one.
at::SDPBackend sdp_choice(const AttentionCall& call, const AttentionPolicy& policy);

}  // namespace symprof::meta
