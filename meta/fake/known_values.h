// Values beside tensors without storage. An input whose values a user gives (lengths, offsets) lies
// in the GPU's memory as any other one, but its numbers are known: they lie in host memory beside
// its storage, so that views of it have them as well.
//
// Public header.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace symprof::meta {

/// A call that makes more elements than this is not followed: its results have no values.
constexpr std::int64_t most_followed_elements = std::int64_t{1} << 20;
/// The same of a program's floating-point results (Factories::on_host).
constexpr std::int64_t most_followed_floats = std::int64_t{1} << 14;

/// Gives a fake tensor the numbers of `values`, a real tensor of its dtype and sizes. Only real
/// numbers of a byte and more are kept.
void give_values(const at::Tensor& fake, const at::Tensor& values);

/// The same with their bytes, row by row.
void give_values(const at::Tensor& fake, std::span<const std::byte> values);

/// The numbers of a tensor, in host memory, for reading alone: of a real tensor itself, of a fake
/// one (or the meta tensor behind it) what is known. Empty where nothing is.
std::optional<at::Tensor> known_values(const at::Tensor& tensor);

/// The storage of `fake` was written, and nobody knows with what.
void forget_values(const at::Tensor& fake);

}  // namespace symprof::meta
