// Values of fake tensors that the Python front end reads and sets.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace symprof {

/// A host copy of the known numbers of a tensor without storage; empty if they are unknown or the
/// tensor is real.
std::optional<at::Tensor> copy_of_known_values(const at::Tensor& tensor);

/// Sets the numbers of a tensor without storage to `values`, a real tensor of its dtype and sizes.
void give_known_values(const at::Tensor& tensor, const at::Tensor& values);

/// Marks the current call as computed for an upper bound.
void mark_upper_bound();

/// For each wrapper tensor subclass, which has no storage, the tensors that `inside` returns count
/// as saved by autograd. Applies to the whole process.
void look_inside_wrappers_by(std::vector<at::Tensor> (*inside)(const at::Tensor& wrapper));

/// c10::DispatchKeySet::raw_repr of the dispatch key of fake tensors, which has no name in Python.
std::uint64_t fake_key_set();

}  // namespace symprof
