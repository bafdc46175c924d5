#include "meta/fake/beside_cuda.h"

#include <torch/headeronly/version.h>

#include <algorithm>
#include <atomic>

#include "meta/fake/cuda_library.h"
#include "meta/fake/current_mode.h"
#include "meta/fake/simulated_guard.h"
#include "meta/fake/simulated_hooks.h"

namespace symprof::meta {
namespace {

using c10::Device;
using c10::DeviceIndex;
using c10::Stream;

std::atomic<int> open_programs = 0;

// The hooks of LibTorch's CUDA library. Set before the first query.
std::unique_ptr<at::CUDAHooksInterface>& real_hooks() {
  static auto* hooks = new std::unique_ptr<at::CUDAHooksInterface>;  // Queried until process exit.
  return *hooks;
}

struct BothHooks final : at::CUDAHooksInterface {
  const std::unique_ptr<at::CUDAHooksInterface> simulated = make_simulated_hooks({});

  const at::CUDAHooksInterface& now() const { return is_simulating() ? *simulated : *real_hooks(); }

  // LibTorch initializes a device once: the real one if it exists, whoever initializes first.
  void init() const override {
    if (has_real_device() || !is_simulating()) real_hooks()->init();
  }
  // Queries about an address go to the hooks that allocated it.
  bool isPinnedPtr(const void* data) const override {
    return simulated->isPinnedPtr(data) || (!is_simulating() && real_hooks()->isPinnedPtr(data));
  }
  at::Allocator* getCUDADeviceAllocator() const override {
    return real_hooks()->getCUDADeviceAllocator();
  }
  const at::cuda::NVRTC& nvrtc() const override { return real_hooks()->nvrtc(); }

  const at::Generator& getDefaultGenerator(DeviceIndex index) const override {
    return now().getDefaultGenerator(index);
  }
  at::Generator getNewGenerator(DeviceIndex index) const override {
    return now().getNewGenerator(index);
  }
  Device getDeviceFromPtr(void* data) const override { return now().getDeviceFromPtr(data); }
  at::Allocator* getPinnedMemoryAllocator() const override {
    return now().getPinnedMemoryAllocator();
  }
  bool isBuilt() const override { return now().isBuilt(); }
  bool isAvailable() const override { return now().isAvailable(); }
  bool hasCUDA() const override { return now().hasCUDA(); }
  bool hasCUDART() const override { return now().hasCUDART(); }
  bool hasMAGMA() const override { return now().hasMAGMA(); }
  bool hasCuDNN() const override { return now().hasCuDNN(); }
  bool hasCuSOLVER() const override { return now().hasCuSOLVER(); }
  bool hasCuBLASLt() const override { return now().hasCuBLASLt(); }
  bool hasROCM() const override { return now().hasROCM(); }
  bool hasCKSDPA() const override { return now().hasCKSDPA(); }
  bool hasCKGEMM() const override { return now().hasCKGEMM(); }
  bool hasPrimaryContext(DeviceIndex index) const override {
    return now().hasPrimaryContext(index);
  }
  DeviceIndex deviceCount() const override { return now().deviceCount(); }
  int getNumGPUs() const override { return now().getNumGPUs(); }
  DeviceIndex current_device() const override { return now().current_device(); }
  DeviceIndex getCurrentDevice() const override { return now().getCurrentDevice(); }
  void setCurrentDevice(DeviceIndex index) const override { now().setCurrentDevice(index); }
  DeviceIndex exchangeDevice(DeviceIndex index) const override {
    return now().exchangeDevice(index);
  }
  DeviceIndex maybeExchangeDevice(DeviceIndex index) const override {
    return now().maybeExchangeDevice(index);
  }
  void deviceSynchronize(DeviceIndex index) const override { now().deviceSynchronize(index); }
  bool compiledWithCuDNN() const override { return now().compiledWithCuDNN(); }
  bool compiledWithMIOpen() const override { return now().compiledWithMIOpen(); }
  bool supportsDilatedConvolutionWithCuDNN() const override {
    return now().supportsDilatedConvolutionWithCuDNN();
  }
  bool supportsDepthwiseConvolutionWithCuDNN() const override {
    return now().supportsDepthwiseConvolutionWithCuDNN();
  }
  bool supportsBFloat16ConvolutionWithCuDNNv8() const override {
    return now().supportsBFloat16ConvolutionWithCuDNNv8();
  }
  bool supportsBFloat16RNNWithCuDNN() const override {
    return now().supportsBFloat16RNNWithCuDNN();
  }
  long versionCuDNN() const override { return now().versionCuDNN(); }
  long versionRuntimeCuDNN() const override { return now().versionRuntimeCuDNN(); }
  long versionCuDNNFrontend() const override { return now().versionCuDNNFrontend(); }
  long versionMIOpen() const override { return now().versionMIOpen(); }
  long versionHipBLASLt() const override { return now().versionHipBLASLt(); }
  long versionCUDART() const override { return now().versionCUDART(); }
  std::string showConfig() const override { return now().showConfig(); }
  double batchnormMinEpsilonCuDNN() const override { return now().batchnormMinEpsilonCuDNN(); }
  std::int64_t cuFFTGetPlanCacheMaxSize(DeviceIndex index) const override {
    return now().cuFFTGetPlanCacheMaxSize(index);
  }
  void cuFFTSetPlanCacheMaxSize(DeviceIndex index, std::int64_t size) const override {
    now().cuFFTSetPlanCacheMaxSize(index, size);
  }
  std::int64_t cuFFTGetPlanCacheSize(DeviceIndex index) const override {
    return now().cuFFTGetPlanCacheSize(index);
  }
  void cuFFTClearPlanCache(DeviceIndex index) const override { now().cuFFTClearPlanCache(index); }
};

struct BothGuards final : c10::impl::DeviceGuardImplInterface {
  explicit BothGuards(const DeviceGuardImplInterface& of_cuda) : real(of_cuda) {}

  const DeviceGuardImplInterface& real;

  const DeviceGuardImplInterface& now() const { return is_simulating() ? simulated_guard() : real; }

  c10::DeviceType type() const override { return c10::kCUDA; }
  // The autograd engine counts devices only once.
  DeviceIndex deviceCount() const noexcept override {
    return is_simulating() ? std::max<DeviceIndex>(real.deviceCount(), 1) : real.deviceCount();
  }
  // The simulated device creates no events.
  void destroyEvent(void* event, const DeviceIndex index) const noexcept override {
    if (event != nullptr) real.destroyEvent(event, index);
  }

  Device exchangeDevice(Device device) const override { return now().exchangeDevice(device); }
  Device getDevice() const override { return now().getDevice(); }
  void setDevice(Device device) const override { now().setDevice(device); }
  void uncheckedSetDevice(Device device) const noexcept override {
    now().uncheckedSetDevice(device);
  }
  Stream getStream(Device device) const override { return now().getStream(device); }
  Stream getDefaultStream(Device device) const override { return now().getDefaultStream(device); }
  Stream getStreamFromGlobalPool(Device device, bool is_high_priority) const override {
    return now().getStreamFromGlobalPool(device, is_high_priority);
  }
  Stream getNewStream(Device device, int priority) const override {
    return now().getNewStream(device, priority);
  }
  Stream exchangeStream(Stream stream) const override { return now().exchangeStream(stream); }
  void* getStreamNativeHandle(const Stream stream) const override {
    return now().getStreamNativeHandle(stream);
  }
  void record(void** event, const Stream& stream, const DeviceIndex index,
              const c10::EventFlag flag) const override {
    now().record(event, stream, index, flag);
  }
  void block(void* event, const Stream& stream) const override { now().block(event, stream); }
  bool queryEvent(void* event) const override { return now().queryEvent(event); }
  c10::DeviceCapability getDeviceCapability(Device device) const override {
    return now().getDeviceCapability(device);
  }
  bool queryStream(const Stream& stream) const override { return now().queryStream(stream); }
  void synchronizeStream(const Stream& stream) const override { now().synchronizeStream(stream); }
#if TORCH_VERSION_MAJOR > 2 || TORCH_VERSION_MINOR >= 13
  bool isStreamCapturing(const Stream& stream) const override {
    return now().isStreamCapturing(stream);
  }
#endif
  void synchronizeEvent(void* event) const override { now().synchronizeEvent(event); }
  void synchronizeDevice(const DeviceIndex index) const override { now().synchronizeDevice(index); }
  void recordDataPtrOnStream(const c10::DataPtr& data, const Stream& stream) const override {
    now().recordDataPtrOnStream(data, stream);
  }
  double elapsedTime(void* from, void* to, const DeviceIndex index) const override {
    return now().elapsedTime(from, to, index);
  }
};

}  // namespace

bool has_real_device() {
  static const bool found = real_hooks()->deviceCount() > 0;
  return found;
}

bool is_simulating() {
  if (!has_cuda_kernels() || current_attention_policy() != nullptr) return true;
  return is_program_open() && !has_real_device();
}

bool is_program_open() { return open_programs.load(std::memory_order_relaxed) > 0; }

OpenProgram::OpenProgram() { ++open_programs; }
OpenProgram::~OpenProgram() { --open_programs; }

void install_hooks_beside_cuda() {
  real_hooks() = at::CUDAHooksRegistry()->Create("CUDAHooks", {});
  at::CUDAHooksRegistry()->Register(
      "CUDAHooks", [](at::CUDAHooksArgs) { return std::make_unique<BothHooks>(); },
      c10::REGISTRY_PREFERRED);
}

std::unique_ptr<c10::impl::DeviceGuardImplInterface> make_guard_beside(
    const c10::impl::DeviceGuardImplInterface& real) {
  return std::make_unique<BothGuards>(real);
}

}  // namespace symprof::meta
