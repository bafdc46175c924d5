#include "meta/fake/simulated_device.h"

#include <ATen/Context.h>
#include <ATen/native/DispatchStub.h>
#include <ATen/native/transformers/attention.h>
#include <ATen/ops/_fused_sdp_choice_ops.h>

#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "meta/attention/attention_choice.h"
#include "meta/fake/beside_cuda.h"
#include "meta/fake/cuda_library.h"
#include "meta/fake/current_mode.h"
#include "meta/fake/simulated_guard.h"
#include "meta/fake/simulated_hooks.h"

namespace symprof::meta {
namespace {

/// For a tensor that torch.compile traces with symbolic sizes: the same tensor with the hints of
/// its symbols as sizes.
at::Tensor with_numbers(const at::Tensor& tensor) {
  if (!tensor.defined() || !tensor.unsafeGetTensorImpl()->has_symbolic_sizes_strides())
    return tensor;
  const auto numbers = [](c10::SymIntArrayRef symbols) {
    std::vector<std::int64_t> found;
    for (const c10::SymInt& symbol : symbols) found.push_back(symbol.guard_int(__FILE__, __LINE__));
    return found;
  };
  at::Tensor made = at::detail::make_tensor<c10::TensorImpl>(
      c10::DispatchKeySet(c10::DispatchKey::CUDA), tensor.dtype(), tensor.device());
  made.unsafeGetTensorImpl()->set_sizes_and_strides(numbers(tensor.sym_sizes()),
                                                    numbers(tensor.sym_strides()));
  return made.set_requires_grad(tensor.requires_grad());
}

std::int64_t choose_attention(const at::Tensor& query, const at::Tensor& key,
                              const at::Tensor& value, const std::optional<at::Tensor>& mask,
                              double dropout_p, bool is_causal, std::optional<double> scale,
                              bool enable_gqa) {
  static const AttentionPolicy fallback;
  const AttentionPolicy* policy = current_attention_policy();
  if (policy == nullptr && has_cuda_kernels())  // A real tensor of a real device.
    return at::_ops::_fused_sdp_choice::redispatch(c10::DispatchKeySet(c10::DispatchKey::CUDA),
                                                   query, key, value, mask, dropout_p, is_causal,
                                                   scale, enable_gqa);
  const auto given = mask ? std::optional(with_numbers(*mask)) : std::nullopt;
  const AttentionCall call{.query = with_numbers(query),
                           .key = with_numbers(key),
                           .value = with_numbers(value),
                           .mask = given,
                           .dropout_p = dropout_p,
                           .is_causal = is_causal,
                           .enable_gqa = enable_gqa};
  return static_cast<std::int64_t>(sdp_choice(call, policy == nullptr ? fallback : *policy));
}

// Each time: where there is no GPU, each FakeTensorMode of a CUDA build puts a guard that does
// nothing in the place of the one that it finds (ensureCUDADeviceGuardSet, c10/core/impl/).
void put_guard_in_front() {
  static std::mutex mutex;
  static const c10::impl::DeviceGuardImplInterface* ours = nullptr;
  const std::lock_guard lock(mutex);
  auto& slot = c10::impl::device_guard_impl_registry[static_cast<std::size_t>(c10::kCUDA)];
  const auto* found = slot.load();
  if (found != nullptr && found == ours) return;
  ours = found == nullptr ? &simulated_guard() : make_guard_beside(*found).release();
  slot.store(ours);
}

[[maybe_unused]] const bool has_hooks = [] {
  if (has_cuda_kernels())
    install_hooks_beside_cuda();
  else
    at::CUDAHooksRegistry()->Register("CUDAHooks", &make_simulated_hooks);
  return true;
}();

}  // namespace

void simulate_device() {
  static std::once_flag once;
  std::call_once(
      once, [] { at::native::_fused_sdp_choice_stub.set_cuda_dispatch_ptr(&choose_attention); });
  put_guard_in_front();
}

bool times_convolutions() { return at::globalContext().benchmarkCuDNN(); }

Tf32Switches tf32_switches() {
  const auto is_on = [](at::Float32Op op) {
    return at::globalContext().float32Precision(at::Float32Backend::CUDA, op) ==
           at::Float32Precision::TF32;
  };
  return {.products = is_on(at::Float32Op::MATMUL),
          .convolutions = is_on(at::Float32Op::CONV),
          .recurrent = is_on(at::Float32Op::RNN)};
}

}  // namespace symprof::meta
