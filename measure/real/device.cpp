#include "measure/real/device.h"

#include <ATen/Context.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <malloc.h>

#include "base/error.h"
#include "meta/fake/cuda_library.h"

namespace symprof::measure::real {
namespace {

constexpr auto aggregate = static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE);

void check_cuda(c10::Device device) {
  if (!meta::has_cuda_kernels())
    throw Error("LibTorch", "it has no CUDA kernels: libtorch_cuda.so is not beside it.",
                "Build symprof against a CUDA build of LibTorch (docs/guide/measure.md).",
                ErrorKind::not_available);
  const int count = at::detail::getCUDAHooks().deviceCount();
  if (device.index() < count) return;
  throw Error("cuda:" + std::to_string(device.index()),
              "there are " + std::to_string(count) + " GPUs that PyTorch can use.",
              "nvidia-smi lists the GPUs of a machine.", ErrorKind::not_available);
}

at::DeviceAllocator& allocator() { return *at::getDeviceAllocator(c10::kCUDA); }

}  // namespace

c10::Device device_of(const std::string& name) {
  if (name == "cpu") return {c10::kCPU};
  c10::Device device(name == "cuda" ? "cuda:0" : name);
  check_cuda(device);
  at::globalContext().lazyInitDevice(device.type());
  return device;
}

void keep_freed_memory(c10::Device device) {
  if (!device.is_cpu()) return;
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, -1);
}

void wait_for(c10::Device device) {
  if (device.is_cpu()) return;
  c10::impl::VirtualGuardImpl(device.type()).synchronizeDevice(device.index());
}

void reset_peaks(c10::Device device) {
  if (!device.is_cpu()) allocator().resetPeakStats(device.index());
}

Peaks peaks_of(c10::Device device) {
  if (device.is_cpu()) return {};
  const auto stats = allocator().getDeviceStats(device.index());
  return {.allocated_bytes = stats.allocated_bytes[aggregate].peak,
          .reserved_bytes = stats.reserved_bytes[aggregate].peak};
}

std::int64_t reserved_bytes(c10::Device device) {
  if (device.is_cpu()) return 0;
  return allocator().getDeviceStats(device.index()).reserved_bytes[aggregate].current;
}

}  // namespace symprof::measure::real
