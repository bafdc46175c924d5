#include "meta/fake/cuda_library.h"

#include <ATen/Context.h>
#include <dlfcn.h>

#include <filesystem>

#include "base/cuda_kernels.h"

namespace symprof::meta {
namespace {

// Beside libtorch_cpu.so, whose this function is.
void load_cuda_kernels() {
  Dl_info library{};
  if (dladdr(reinterpret_cast<const void*>(&at::CUDAHooksRegistry), &library) == 0) return;
  const auto folder = std::filesystem::path(library.dli_fname).parent_path();
  dlopen((folder / "libtorch_cuda.so").c_str(), RTLD_NOW | RTLD_GLOBAL);
}

}  // namespace

// Before the simulated hooks are registered, which is when it is asked first.
bool has_cuda_kernels() {
  static const bool found = [] {
    if (are_cuda_kernels_wanted()) load_cuda_kernels();
    return at::CUDAHooksRegistry()->Has("CUDAHooks");
  }();
  return found;
}

}  // namespace symprof::meta
