#include "meta/attention/attention_choice.h"

#include <fmt/format.h>

#include <vector>

#include "base/error.h"
#include "meta/attention/attention_checks.h"

namespace symprof::meta {
namespace {

using at::SDPBackend;

const char* name_of(SDPBackend backend) {
  switch (backend) {
    case SDPBackend::cudnn_attention:
      return "cuDNN";
    case SDPBackend::flash_attention:
      return "flash";
    case SDPBackend::efficient_attention:
      return "memory-efficient";
    case SDPBackend::math:
      return "math";
    default:
      return "this";
  }
}

// check_prefer_cudnn_attention: data-center GPUs of compute capability 9.x and 10.x with a cuDNN
// newer than 9.15.0.
bool prefers_cudnn(const DeviceSpec& device) {
  return device.cudnn_version > 91500 && (device.compute_major == 9 || device.compute_major == 10);
}

std::vector<SDPBackend> preference(const DeviceSpec& device) {
  std::vector<SDPBackend> order{SDPBackend::flash_attention, SDPBackend::efficient_attention,
                                SDPBackend::math};
  order.insert(prefers_cudnn(device) ? order.begin() : order.end(), SDPBackend::cudnn_attention);
  return order;
}

}  // namespace

SDPBackend sdp_choice(const AttentionCall& call, const AttentionPolicy& policy) {
  if (policy.forced) {
    const auto complaint = complaint_against(*policy.forced, call, policy.device);
    if (!complaint) return *policy.forced;
    throw Error(fmt::format("{} attention on {}", name_of(*policy.forced), policy.device.name),
                *complaint, "choose another backend, or let the device choose");
  }
  for (const SDPBackend backend : preference(policy.device)) {
    if (!complaint_against(backend, call, policy.device)) return backend;
  }
  throw Error(fmt::format("attention on {}", policy.device.name),
              "found every backend switched off, wanted at least math on");
}

}  // namespace symprof::meta
