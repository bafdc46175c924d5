// What releases of PyTorch changed in the signatures of kernels
// (aten/src/ATen/native/native_functions.yaml). Each kernel has the newest one of its release.
#pragma once

#include <ATen/ATen.h>
#include <torch/headeronly/version.h>

namespace symprof::kernels {

// _flash_attention_forward: 2.12 added a block table and a number of splits.
#if TORCH_VERSION_MAJOR > 2 || TORCH_VERSION_MINOR >= 12
#define SYMPROF_FLASH_ADDITIONS , const std::optional<at::Tensor>&, std::optional<int64_t>
#else
#define SYMPROF_FLASH_ADDITIONS
#endif

// _cudnn_attention_forward: 2.14 added lengths and a block table. Some products of low precision
// are structured there, and take any kind of list.
#if TORCH_VERSION_MAJOR > 2 || TORCH_VERSION_MINOR >= 14
#define SYMPROF_CUDNN_ADDITIONS , const std::optional<at::Tensor>&, const std::optional<at::Tensor>&
using Scales = const at::ITensorListRef&;
#else
#define SYMPROF_CUDNN_ADDITIONS
using Scales = at::TensorList;
#endif

}  // namespace symprof::kernels
