// Functions of the driver that load and launch kernels which PyTorch compiles while it runs, and
// its name of the GPU. ../h200/rehearse.py writes those that only succeed.
#include <cupti_driver_cbid.h>
#include <sys/mman.h>

#include <cstdio>
#include <cstring>

#include "operations.h"

extern "C" {
int cuDeviceGetCount(int* count) {
  *count = 1;
  return 0;
}
int cuDeviceGet(int* device, int) {
  *device = 0;
  return 0;
}
int cuDeviceGetName(char* name, int bytes, int) {
  std::snprintf(name, static_cast<std::size_t>(bytes), "NVIDIA H200");
  return 0;
}
int cuCtxGetCurrent(void** context) {  // None: PyTorch warns before its first product.
  static char any;
  *context = &any;
  return 0;
}
// Expandable segments reserve addresses and map memory (c10/cuda/CUDACachingAllocator.cpp).
int cuMemAddressReserve(unsigned long long* address, std::size_t bytes, std::size_t,
                        unsigned long long, unsigned long long) {
  void* range = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  *address = reinterpret_cast<unsigned long long>(range);
  return range == MAP_FAILED ? 2 : 0;  // CUDA_ERROR_OUT_OF_MEMORY
}
int cuMemAddressFree(unsigned long long address, std::size_t bytes) {
  munmap(reinterpret_cast<void*>(address), bytes);
  return 0;
}
int cuMemGetAllocationGranularity(std::size_t* bytes, const void*, int) {
  *bytes = std::size_t{2} << 20;
  return 0;
}
int cuMemCreate(unsigned long long* handle, std::size_t bytes, const void*, unsigned long long) {
  *handle = bytes;
  return 0;
}
int cuModuleLoadData(void** module, const void*) {
  static char any;
  *module = &any;
  return 0;
}
int cuModuleGetFunction(void** function, void*, const char* name) {
  *function = strdup(name);
  return 0;
}
int cuLaunchKernel(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                   void* stream, void**, void**) {
  fake::run({.name = static_cast<const char*>(function),
             .grid = {grid_x, grid_y, grid_z},
             .block = {block_x, block_y, block_z},
             .dynamic_shared_bytes = shared_bytes,
             .stream = reinterpret_cast<std::uint64_t>(stream)},
            {.cbid = CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, .is_driver = true});
  return 0;
}
}
