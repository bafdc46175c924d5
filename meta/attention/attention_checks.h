// The conditions under which each attention kernel runs (native/transformers/cuda/sdp_utils.cpp and
// sdp_utils_cpp.h of LibTorch 2.13; dense tensors).
#pragma once

#include <ATen/SDPBackend.h>

#include <optional>
#include <string>

#include "meta/attention/attention_call.h"

namespace symprof::meta {

/// The reason why `backend` cannot run `call` on `device` ("found ..., wanted ..."); empty if it
/// can.
std::optional<std::string> complaint_against(at::SDPBackend backend, const AttentionCall& call,
                                             const DeviceSpec& device);

}  // namespace symprof::meta
