// Before the GPU that computes nothing: there is none. A caller that asks a device for something
// ends here.
#include <cstdio>
#include <cstdlib>

namespace {

int refuse(const char* what) {
  std::fprintf(stderr, "%s: there is no GPU\n", what);
  std::abort();
}

}  // namespace

extern "C" {
int cudaGetDeviceCount(int* count) {
  *count = 0;
  constexpr int no_device = 100;  // cudaErrorNoDevice
  return no_device;
}
int cudaMalloc(void**, unsigned long) { return refuse("cudaMalloc"); }
int cudaHostAlloc(void**, unsigned long, unsigned) { return refuse("cudaHostAlloc"); }
int cudaLaunchKernel(...) { return refuse("cudaLaunchKernel"); }
int cudaMemcpyAsync(...) { return refuse("cudaMemcpyAsync"); }
int cudaEventRecord(...) { return refuse("cudaEventRecord"); }
int cudaStreamCreateWithPriority(...) { return refuse("cudaStreamCreateWithPriority"); }
int cudnnCreate(...) { return refuse("cudnnCreate"); }
}
