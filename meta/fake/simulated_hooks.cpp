#include "meta/fake/simulated_hooks.h"

#include "meta/fake/current_mode.h"
#include "meta/fake/pinned_memory.h"
#include "meta/fake/simulated_generator.h"

namespace symprof::meta {
namespace {

const DeviceSpec& spec() {
  static const DeviceSpec fallback;
  const AttentionPolicy* policy = current_attention_policy();
  return policy == nullptr ? fallback : policy->device;
}

// Queries of operators below autograd (detail/CUDAHooksInterface.h), answered as PyTorch's CUDA 13
// wheels answer them on the target device.
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
  // at::manual_seed seeds one generator per device.
  const at::Generator& getDefaultGenerator(c10::DeviceIndex) const override {
    static const at::Generator generator = make_simulated_generator();
    return generator;
  }
  at::Generator getNewGenerator(c10::DeviceIndex) const override {
    return make_simulated_generator();
  }
  c10::Allocator* getPinnedMemoryAllocator() const override { return pinned_memory_allocator(); }
  bool isPinnedPtr(const void* address) const override { return is_pinned(address); }
  c10::Device getDeviceFromPtr(void*) const override { return {c10::kCUDA, 0}; }
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

}  // namespace

std::unique_ptr<at::CUDAHooksInterface> make_simulated_hooks(at::CUDAHooksArgs arguments) {
  return std::make_unique<SimulatedHooks>(arguments);
}

}  // namespace symprof::meta
