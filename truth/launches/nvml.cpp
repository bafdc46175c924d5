// NVML's answers to PyTorch's allocator, which asks it before it maps memory for an expandable
// segment: a device without a fabric (c10/cuda/CUDACachingAllocator.cpp: get_fabric_access).
extern "C" {
int nvmlInit_v2() { return 0; }
int nvmlDeviceGetHandleByPciBusId_v2(const char*, void** device) {
  static char any;
  *device = &any;
  return 0;
}
// The state stays the caller's: not supported.
int nvmlDeviceGetGpuFabricInfoV(void*, void*) { return 0; }
// What PyTorch looks for as well (c10/cuda/driver_api.h): 3 is NVML_ERROR_NOT_SUPPORTED.
int nvmlDeviceGetNvLinkRemoteDeviceType(void*, unsigned, void*) { return 3; }
int nvmlDeviceGetNvLinkRemotePciInfo_v2(void*, unsigned, void*) { return 3; }
int nvmlDeviceGetComputeRunningProcesses(void*, unsigned*, void*) { return 3; }
int nvmlSystemGetCudaDriverVersion_v2(int*) { return 3; }
}
