// A CUDA runtime for a machine without a GPU: addresses descend, memory ends at FAKE_DEVICE_BYTES,
// everything else succeeds and does nothing. Enough for libc10_cuda.so's caching allocator.
#include <cuda_runtime_api.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string_view>

namespace {

constexpr std::size_t page_bytes = 2097152;
constexpr std::uintptr_t range_step = std::uintptr_t{1} << 40;

std::size_t total_bytes() {
  static const std::size_t total = std::strtoull(std::getenv("FAKE_DEVICE_BYTES"), nullptr, 10);
  return total;
}

std::size_t used_bytes = 0;
std::uintptr_t next_address = 0x7f0000000000, next_range = 0x100000000000;
std::map<std::uintptr_t, std::size_t> segments;

// Functions of the CUDA driver, for expandable segments.
int reserve_range(std::uint64_t* address, std::size_t bytes, std::size_t, std::uint64_t,
                  unsigned long long) {
  *address = next_range;
  next_range += (bytes + range_step - 1) / range_step * range_step;
  return 0;
}
int create_memory(std::uint64_t* handle, std::size_t bytes, const void*, unsigned long long) {
  constexpr int out_of_memory = 2;  // CUDA_ERROR_OUT_OF_MEMORY
  if (used_bytes + bytes > total_bytes()) return out_of_memory;
  used_bytes += bytes;
  *handle = bytes;  // All that release has to know.
  return 0;
}
int release_memory(std::uint64_t handle) {
  used_bytes -= handle;
  return 0;
}
int get_attribute(int* value, int, int) {
  *value = 0;
  return 0;
}
int get_granularity(std::size_t* bytes, const void*, int) {
  *bytes = page_bytes;
  return 0;
}
int succeed() { return 0; }

template <class Function>
void* pointer_to(Function* function) {
  return reinterpret_cast<void*>(function);
}

}  // namespace

extern "C" {

cudaError_t cudaMalloc(void** pointer, std::size_t bytes) {
  const std::size_t whole = (bytes + page_bytes - 1) / page_bytes * page_bytes;
  if (used_bytes + whole > total_bytes()) return cudaErrorMemoryAllocation;
  next_address -= whole;  // As on a GPU (../h200/address_order.py).
  *pointer = reinterpret_cast<void*>(next_address);
  segments[next_address] = whole;
  used_bytes += whole;
  return cudaSuccess;
}
cudaError_t cudaFree(void* pointer) {
  const auto segment = segments.find(reinterpret_cast<std::uintptr_t>(pointer));
  if (segment == segments.end()) return cudaErrorInvalidValue;
  used_bytes -= segment->second;
  segments.erase(segment);
  return cudaSuccess;
}
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  *free = total_bytes() - used_bytes;
  *total = total_bytes();
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  std::memset(properties, 0, sizeof *properties);
  properties->totalGlobalMem = total_bytes();
  properties->major = 9;
  properties->multiProcessorCount = 132;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int) { return cudaSuccess; }
cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int* version) {
  *version = 13000;
  return cudaSuccess;
}
cudaError_t cudaGetLastError() { return cudaSuccess; }
const char* cudaGetErrorString(cudaError_t) { return "an error of the fake runtime"; }
const char* cudaGetErrorName(cudaError_t) { return "fake"; }
cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus* status) {
  *status = cudaStreamCaptureStatusNone;
  return cudaSuccess;
}
cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned int,
                                             unsigned long long,
                                             cudaDriverEntryPointQueryResult* result) {
  const std::map<std::string_view, void*> entries = {
      {"cuMemAddressReserve", pointer_to(&reserve_range)},
      {"cuMemCreate", pointer_to(&create_memory)},
      {"cuMemRelease", pointer_to(&release_memory)},
      {"cuDeviceGetAttribute", pointer_to(&get_attribute)},
      {"cuMemGetAllocationGranularity", pointer_to(&get_granularity)},
  };
  const auto entry = entries.find(symbol);
  *function = entry == entries.end() ? pointer_to(&succeed) : entry->second;
  if (result != nullptr) *result = cudaDriverEntryPointSuccess;
  return cudaSuccess;
}
}

// The rest of what libc10_cuda.so links to: never called here with results that matter. Named in
// the assembler, because the headers declare them with other arguments.
#define SYMPROF_SUCCEEDS(name)                         \
  extern "C" cudaError_t fake_##name() __asm__(#name); \
  extern "C" cudaError_t fake_##name() { return cudaSuccess; }
SYMPROF_SUCCEEDS(cudaDeviceCanAccessPeer)
SYMPROF_SUCCEEDS(cudaDeviceEnablePeerAccess)
SYMPROF_SUCCEEDS(cudaDeviceGetDefaultMemPool)
SYMPROF_SUCCEEDS(cudaDeviceGetGraphMemAttribute)
SYMPROF_SUCCEEDS(cudaDeviceGetStreamPriorityRange)
SYMPROF_SUCCEEDS(cudaDeviceSetGraphMemAttribute)
SYMPROF_SUCCEEDS(cudaDeviceSynchronize)
SYMPROF_SUCCEEDS(cudaEventCreateWithFlags)
SYMPROF_SUCCEEDS(cudaEventDestroy)
SYMPROF_SUCCEEDS(cudaEventElapsedTime)
SYMPROF_SUCCEEDS(cudaEventQuery)
SYMPROF_SUCCEEDS(cudaEventRecord)
SYMPROF_SUCCEEDS(cudaEventSynchronize)
SYMPROF_SUCCEEDS(cudaFreeAsync)
SYMPROF_SUCCEEDS(cudaGraphNodeGetDependencies)
SYMPROF_SUCCEEDS(cudaIpcCloseMemHandle)
SYMPROF_SUCCEEDS(cudaIpcGetMemHandle)
SYMPROF_SUCCEEDS(cudaIpcOpenMemHandle)
SYMPROF_SUCCEEDS(cudaMallocAsync)
SYMPROF_SUCCEEDS(cudaMemPoolGetAttribute)
SYMPROF_SUCCEEDS(cudaMemPoolSetAccess)
SYMPROF_SUCCEEDS(cudaMemPoolSetAttribute)
SYMPROF_SUCCEEDS(cudaMemPoolTrimTo)
SYMPROF_SUCCEEDS(cudaMemcpy)
SYMPROF_SUCCEEDS(cudaMemcpyAsync)
SYMPROF_SUCCEEDS(cudaMemcpyPeerAsync)
SYMPROF_SUCCEEDS(cudaStreamCreateWithPriority)
SYMPROF_SUCCEEDS(cudaStreamGetCaptureInfo)
SYMPROF_SUCCEEDS(cudaStreamQuery)
SYMPROF_SUCCEEDS(cudaStreamSynchronize)
SYMPROF_SUCCEEDS(cudaStreamWaitEvent)
SYMPROF_SUCCEEDS(cudaThreadExchangeStreamCaptureMode)
