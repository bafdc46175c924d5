// NVIDIA's management library for a machine without a GPU: PyTorch 2.13 asks it whether memory can
// be shared over a fabric before it maps an expandable segment.
#define SYMPROF_SUCCEEDS(name) \
  extern "C" int name() { return 0; }
SYMPROF_SUCCEEDS(nvmlInit_v2)
SYMPROF_SUCCEEDS(nvmlDeviceGetHandleByPciBusId_v2)
SYMPROF_SUCCEEDS(nvmlDeviceGetNvLinkRemoteDeviceType)
SYMPROF_SUCCEEDS(nvmlDeviceGetNvLinkRemotePciInfo_v2)
SYMPROF_SUCCEEDS(nvmlDeviceGetComputeRunningProcesses)
SYMPROF_SUCCEEDS(nvmlSystemGetCudaDriverVersion_v2)

extern "C" int nvmlDeviceGetGpuFabricInfoV() {
  constexpr int not_supported = 3;  // NVML_ERROR_NOT_SUPPORTED
  return not_supported;
}
