// The tensors inside of a Python wrapper, which has no storage of its own.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace symprof::meta {

using InnerTensors = std::vector<at::Tensor> (*)(const at::Tensor& wrapper);

/// Who looks inside of wrappers; nobody does until then. For the process.
void set_inner_tensors(InnerTensors find);

/// The plain tensors that hold the numbers of a tensor: itself, or what is inside of a wrapper.
std::vector<at::Tensor> plain_tensors(const at::Tensor& tensor);

}  // namespace symprof::meta
