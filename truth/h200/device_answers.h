// What CUDA's runtime says of an H200, and a cuBLAS that only succeeds, for the GPUs that compute
// nothing. Included once in a library, behind total_bytes(), make_handle() and answer_zero().
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>

namespace {
constexpr int multiprocessors = 132, shared_bytes_opt_in = 232448, threads_per_block = 1024;
constexpr int threads_per_multiprocessor = 2048, blocks_per_multiprocessor = 32;
}  // namespace

extern "C" {

// By these properties kernels choose their launches, and so their buffers.
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  std::memset(properties, 0, sizeof *properties);
  std::strcpy(properties->name, "fake");
  properties->totalGlobalMem = total_bytes();
  properties->major = 9;
  properties->multiProcessorCount = multiprocessors;
  properties->warpSize = 32;
  properties->maxThreadsPerMultiProcessor = threads_per_multiprocessor;
  properties->maxThreadsPerBlock = threads_per_block;
  properties->regsPerBlock = 65536;
  properties->sharedMemPerBlock = 49152;
  properties->sharedMemPerBlockOptin = shared_bytes_opt_in;
  properties->sharedMemPerMultiprocessor = 233472;
  properties->regsPerMultiprocessor = 65536;
  properties->maxBlocksPerMultiProcessor = blocks_per_multiprocessor;
  for (int axis = 0; axis < 3; ++axis) {
    properties->maxThreadsDim[axis] = threads_per_block;
    properties->maxGridSize[axis] = axis == 0 ? 2147483647 : 65535;
  }
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  static const std::map<int, int> known = {
      {cudaDevAttrComputeCapabilityMajor, 9},
      {cudaDevAttrComputeCapabilityMinor, 0},
      {cudaDevAttrMultiProcessorCount, multiprocessors},
      {cudaDevAttrMaxSharedMemoryPerBlockOptin, shared_bytes_opt_in},
      {cudaDevAttrMaxThreadsPerMultiProcessor, threads_per_multiprocessor},
      {cudaDevAttrMaxGridDimX, 2147483647},
      {cudaDevAttrMaxSharedMemoryPerBlock, 49152},
      {cudaDevAttrWarpSize, 32},
  };
  const auto found = known.find(attribute);
  *value = found == known.end() ? threads_per_block : found->second;
  return cudaSuccess;
}
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void*) {
  std::memset(attributes, 0, sizeof *attributes);
  attributes->ptxVersion = attributes->binaryVersion = 90;
  attributes->maxThreadsPerBlock = threads_per_block;
  attributes->numRegs = 32;
  return cudaSuccess;
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void*) {
  std::memset(attributes, 0, sizeof *attributes);
  return cudaSuccess;
}
cudaError_t cudaHostAlloc(void** pointer, std::size_t bytes, unsigned int) {
  *pointer = std::calloc(1, bytes + 1);
  return cudaSuccess;
}
cudaError_t cudaFreeHost(void* pointer) {
  std::free(pointer);
  return cudaSuccess;
}
// As if no kernel needed so many registers that it could not fill the threads.
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void*, int threads,
                                                          std::size_t) {
  *blocks = std::min(blocks_per_multiprocessor, threads_per_multiprocessor / std::max(threads, 1));
  return cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* kernel,
                                                                   int threads, std::size_t bytes,
                                                                   unsigned int) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, kernel, threads, bytes);
}

int cublasCreate_v2(void** handle) { return make_handle(handle); }
int cublasLtCreate(void** handle) { return make_handle(handle); }
int cublasLtMatmulDescCreate(void** made, int, int) { return make_handle(made); }
int cublasLtMatrixLayoutCreate(void** made, int, std::uint64_t, std::uint64_t, std::int64_t) {
  return make_handle(made);
}
int cublasLtMatmulPreferenceCreate(void** made) { return make_handle(made); }
int cublasLtMatmulAlgoGetHeuristic(void*, void*, void*, void*, void*, void*, void*, int,
                                   void* results, int* count) {
  constexpr std::size_t result_bytes = 96;  // sizeof(cublasLtMatmulHeuristicResult_t)
  std::memset(results, 0, result_bytes);
  *count = 1;
  return 0;
}
int cublasGetMathMode(void* handle, int* mode) { return answer_zero(handle, mode); }
int cublasGetPointerMode_v2(void* handle, int* mode) { return answer_zero(handle, mode); }
}
