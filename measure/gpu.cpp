#include "measure/gpu.h"

#include <fmt/format.h>

#include <array>

#include "base/error.h"
#include "measure/loaded_library.h"

namespace symprof::measure::gpu {
namespace {

[[noreturn]] void fail(const std::string& where, const std::string& why) {
  throw Error(where, why, "nvidia-smi lists the GPUs of a machine.", ErrorKind::not_available);
}

/// CUdevice of the CUDA driver API is an int.
int device_of(const LoadedLibrary& cuda, int index) {
  if (!cuda.is_there()) fail("CUDA", "there is no NVIDIA driver: libcuda.so.1 cannot be loaded.");
  int device = 0;
  if (!cuda.call("cuInit", 0U)) fail("CUDA", "the NVIDIA driver finds no GPU that it can use.");
  if (!cuda.call("cuDeviceGet", &device, index))
    fail(fmt::format("cuda:{}", index), "there is no such GPU.");
  return device;
}

}  // namespace

std::string name_of(int index) {
  const LoadedLibrary cuda("libcuda.so.1");
  const int device = device_of(cuda, index);
  std::array<char, 256> name{};
  return cuda.call("cuDeviceGetName", name.data(), static_cast<int>(name.size()), device)
             ? name.data()
             : "";
}

// NVML counts all GPUs of the machine, CUDA only those in CUDA_VISIBLE_DEVICES: matched by PCI bus
// id. Milliwatts and megahertz; clock 1 is that of the multiprocessors (nvml.h).
State state_of(int index) {
  State state;
  const LoadedLibrary cuda("libcuda.so.1"), nvml("libnvidia-ml.so.1");
  std::array<char, 64> bus{};
  std::array<char, 96> version{};
  void* device = nullptr;
  if (!nvml.is_there() || !nvml.call("nvmlInit_v2")) return state;
  if (nvml.call("nvmlSystemGetDriverVersion", version.data(),
                static_cast<unsigned>(version.size())))
    state.driver_version = version.data();
  if (cuda.call("cuDeviceGetPCIBusId", bus.data(), static_cast<int>(bus.size()),
                device_of(cuda, index)) &&
      nvml.call("nvmlDeviceGetHandleByPciBusId_v2", static_cast<const char*>(bus.data()),
                &device)) {
    unsigned milliwatts = 0, megahertz = 0;
    if (nvml.call("nvmlDeviceGetPowerUsage", device, &milliwatts))
      state.power_watts = milliwatts / 1e3;
    if (nvml.call("nvmlDeviceGetClockInfo", device, 1, &megahertz))
      state.clock_hz = megahertz * 1e6;
  }
  return state;
}

std::optional<std::int64_t> used_bytes() {
  const LoadedLibrary cuda("libcuda.so.1");
  std::size_t free_bytes = 0, all_bytes = 0;
  if (!cuda.call("cuMemGetInfo_v2", &free_bytes, &all_bytes)) return std::nullopt;
  return static_cast<std::int64_t>(all_bytes - free_bytes);
}

}  // namespace symprof::measure::gpu
