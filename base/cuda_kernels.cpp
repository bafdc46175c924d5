#include "base/cuda_kernels.h"

#include <atomic>

namespace symprof {
namespace {

std::atomic<bool> is_wanted = false;

}  // namespace

void want_cuda_kernels() { is_wanted = true; }

bool are_cuda_kernels_wanted() { return is_wanted; }

}  // namespace symprof
