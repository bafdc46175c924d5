// CUDA queries of operators below autograd, answered as the target device would.
#pragma once

#include <ATen/detail/CUDAHooksInterface.h>

#include <memory>

namespace symprof::meta {

std::unique_ptr<at::CUDAHooksInterface> make_simulated_hooks(at::CUDAHooksArgs);

}  // namespace symprof::meta
