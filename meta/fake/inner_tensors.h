// Inner tensors of wrappers: of Python's tensor subclasses and of torch.func's transforms. A
// wrapper has no storage of its own.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/SmallVector.h>

#include <cstdint>
#include <vector>

namespace symprof::meta {

using InnerTensors = std::vector<at::Tensor> (*)(const at::Tensor& wrapper);

/// Sets the function that unwraps Python's wrappers; without it they are not unwrapped. Applies to
/// the whole process.
void set_inner_tensors(InnerTensors find);

/// The storages of the fake tensors that hold a tensor's numbers: its own, or its inner tensors'.
c10::SmallVector<std::int32_t, 1> storages_of(const at::Tensor& tensor);

}  // namespace symprof::meta
