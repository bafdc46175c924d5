// What the face of a program's language asks of fake tensors, and says of them.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace symprof {

/// A copy, in host memory, of the numbers of a tensor without storage; empty where they are not
/// known, or the tensor is a real one.
std::optional<at::Tensor> copy_of_known_values(const at::Tensor& tensor);

/// The numbers of a tensor without storage are those of `values`, a real tensor of its dtype and
/// sizes.
void give_known_values(const at::Tensor& tensor, const at::Tensor& values);

/// The most that it can be was taken for what the running call does.
void mark_upper_bound();

/// Of each wrapper, a tensor without storage of its own, those that `inside` gives count as what
/// autograd saves. For the process.
void look_inside_wrappers_by(std::vector<at::Tensor> (*inside)(const at::Tensor& wrapper));

/// c10::DispatchKeySet::raw_repr of the key that fake tensors have, which has no name in Python.
std::uint64_t fake_key_set();

}  // namespace symprof
