#include "meta/fake/simulated_device.h"

#include <ATen/Context.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <ATen/native/DispatchStub.h>
#include <ATen/native/transformers/attention.h>
#include <ATen/ops/_fused_sdp_choice_ops.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <dlfcn.h>

#include <atomic>
#include <filesystem>
#include <mutex>
#include <utility>

#include "base/cuda_kernels.h"
#include "meta/attention/attention_choice.h"
#include "meta/fake/fake_mode.h"
#include "meta/fake/pinned_memory.h"
#include "meta/fake/simulated_generator.h"

namespace symprof::meta {
namespace {

const c10::Device device{c10::kCUDA, 0};

// As the default pool of c10/cuda/CUDAStream.cpp, whose streams are handed out in turn.
constexpr std::int64_t streams_in_pool = 32;

thread_local c10::StreamId stream_now = 0;

// One device and no events: what the autograd engine asks of an accelerator.
struct SimulatedGuard final : c10::impl::DeviceGuardImplInterface {
  c10::DeviceType type() const override { return c10::kCUDA; }
  c10::Device exchangeDevice(c10::Device) const override { return device; }
  c10::Device getDevice() const override { return device; }
  void setDevice(c10::Device) const override {}
  void uncheckedSetDevice(c10::Device) const noexcept override {}
  c10::Stream getStream(c10::Device) const override { return stream(stream_now); }
  c10::Stream getDefaultStream(c10::Device) const override { return stream(0); }
  c10::Stream getNewStream(c10::Device, int) const override {
    static std::atomic<c10::StreamId> made = 0;
    return stream(1 + made++ % streams_in_pool);
  }
  c10::Stream getStreamFromGlobalPool(c10::Device place, bool) const override {
    return getNewStream(place, 0);
  }
  c10::Stream exchangeStream(c10::Stream next) const override {
    return stream(std::exchange(stream_now, next.id()));
  }
  c10::DeviceIndex deviceCount() const noexcept override { return 1; }
  void record(void**, const c10::Stream&, const c10::DeviceIndex,
              const c10::EventFlag) const override {}
  void block(void*, const c10::Stream&) const override {}
  bool queryEvent(void*) const override { return true; }
  void destroyEvent(void*, const c10::DeviceIndex) const noexcept override {}
  bool queryStream(const c10::Stream&) const override { return true; }
  void synchronizeStream(const c10::Stream&) const override {}
  void synchronizeEvent(void*) const override {}
  void synchronizeDevice(const c10::DeviceIndex) const override {}
  void recordDataPtrOnStream(const c10::DataPtr&, const c10::Stream&) const override {}
  // No time passes; 1 ms keeps a program from dividing by zero.
  double elapsedTime(void*, void*, const c10::DeviceIndex) const override { return 1.0; }

  static c10::Stream stream(c10::StreamId id) {
    return c10::Stream(c10::Stream::UNSAFE, device, id);
  }
};

const DeviceSpec& spec() {
  static const DeviceSpec fallback;
  const AttentionPolicy* policy = current_attention_policy();
  return policy == nullptr ? fallback : policy->device;
}

// The questions that operators ask below autograd (detail/CUDAHooksInterface.h), answered as the
// CUDA 13 wheels of PyTorch answer them on the target device.
struct SimulatedHooks final : at::CUDAHooksInterface {
  explicit SimulatedHooks(at::CUDAHooksArgs) {}
  void init() const override {}
  bool hasCUDA() const override { return true; }
  bool hasCUDART() const override { return true; }
  bool hasCuDNN() const override { return true; }
  bool hasCuSOLVER() const override { return true; }
  bool hasCuBLASLt() const override { return true; }
  std::string showConfig() const override { return "simulated by symprof"; }
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
  c10::DeviceIndex deviceCount() const override { return 1; }
  int getNumGPUs() const override { return 1; }
  c10::DeviceIndex current_device() const override { return 0; }
  c10::DeviceIndex getCurrentDevice() const override { return 0; }
  void setCurrentDevice(c10::DeviceIndex) const override {}
  c10::DeviceIndex exchangeDevice(c10::DeviceIndex) const override { return 0; }
  c10::DeviceIndex maybeExchangeDevice(c10::DeviceIndex) const override { return 0; }
  // at::manual_seed seeds one for each device.
  const at::Generator& getDefaultGenerator(c10::DeviceIndex) const override {
    static const at::Generator generator = make_simulated_generator();
    return generator;
  }
  at::Generator getNewGenerator(c10::DeviceIndex) const override {
    return make_simulated_generator();
  }
  c10::Allocator* getPinnedMemoryAllocator() const override { return pinned_memory_allocator(); }
  bool isPinnedPtr(const void* address) const override { return is_pinned(address); }
  c10::Device getDeviceFromPtr(void*) const override { return device; }
  void deviceSynchronize(c10::DeviceIndex) const override {}
  std::int64_t cuFFTGetPlanCacheMaxSize(c10::DeviceIndex) const override { return 4096; }
  void cuFFTSetPlanCacheMaxSize(c10::DeviceIndex, std::int64_t) const override {}
  std::int64_t cuFFTGetPlanCacheSize(c10::DeviceIndex) const override { return 0; }
  void cuFFTClearPlanCache(c10::DeviceIndex) const override {}
  bool compiledWithCuDNN() const override { return true; }
  long versionCuDNN() const override { return static_cast<long>(spec().cudnn_version); }
  long versionRuntimeCuDNN() const override { return static_cast<long>(spec().cudnn_version); }
  long versionCUDART() const override { return static_cast<long>(spec().cuda_version); }
  bool supportsDilatedConvolutionWithCuDNN() const override { return true; }
  bool supportsDepthwiseConvolutionWithCuDNN() const override { return spec().compute_major >= 7; }
  bool supportsBFloat16ConvolutionWithCuDNNv8() const override { return spec().compute_major >= 8; }
  bool supportsBFloat16RNNWithCuDNN() const override { return spec().compute_major >= 8; }
  // cuDNN dropped its lower bound on epsilon (cudnn.h: CUDNN_BN_MIN_EPSILON is 0).
  double batchnormMinEpsilonCuDNN() const override { return 0.0; }
};

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
  const AttentionCall call{query, key, value, mask, dropout_p, is_causal, enable_gqa};
  return static_cast<std::int64_t>(sdp_choice(call, policy == nullptr ? fallback : *policy));
}

// Beside libtorch_cpu.so, whose this function is.
void load_cuda_kernels() {
  Dl_info library{};
  if (dladdr(reinterpret_cast<const void*>(&at::CUDAHooksRegistry), &library) == 0) return;
  const auto folder = std::filesystem::path(library.dli_fname).parent_path();
  dlopen((folder / "libtorch_cuda.so").c_str(), RTLD_NOW | RTLD_GLOBAL);
}

[[maybe_unused]] const bool is_simulated = [] {
  if (has_cuda_kernels()) return false;
  at::CUDAHooksRegistry()->Register(
      "CUDAHooks", at::RegistererCUDAHooksRegistry::DefaultCreator<SimulatedHooks>);
  return true;
}();

}  // namespace

// Before the hooks of this file are registered, which is when it is asked first.
bool has_cuda_kernels() {
  static const bool found = [] {
    if (are_cuda_kernels_wanted()) load_cuda_kernels();
    return at::CUDAHooksRegistry()->Has("CUDAHooks");
  }();
  return found;
}

void simulate_device() {
  static std::once_flag once;
  std::call_once(once, [] {
    auto& slot = c10::impl::device_guard_impl_registry[static_cast<std::size_t>(c10::kCUDA)];
    static const SimulatedGuard guard;
    if (slot.load() == nullptr) slot.store(&guard);
    at::native::_fused_sdp_choice_stub.set_cuda_dispatch_ptr(&choose_attention);
  });
}

std::int64_t current_stream() { return stream_now; }

bool times_convolutions() { return at::globalContext().benchmarkCuDNN(); }

}  // namespace symprof::meta
