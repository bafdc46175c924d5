// A GPU that computes nothing: enough of the CUDA runtime and of cuBLAS for PyTorch's CUDA build to
// run every host-side line, with the real caching allocator. rehearse.py adds the functions that
// only succeed.
#include <cuda_runtime_api.h>

#define cudaGetDeviceProperties properties_of_the_allocators_device
#include "../allocator/fake_cudart.cpp"
#undef cudaGetDeviceProperties

namespace {
// Handles have to differ: PyTorch keeps a workspace for each.
int make_handle(void** handle) {
  static char handles[4096];
  static int made = 0;
  *handle = &handles[made++ % sizeof handles];
  return 0;
}
int answer_zero(void*, int* value) {
  *value = 0;
  return 0;
}
}  // namespace

#include "device_answers.h"

extern "C" cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = 13000;
  return cudaSuccess;
}
