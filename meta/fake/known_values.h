// Known values of tensors without storage. An input whose values the user gives (lengths, offsets)
// is in GPU memory as any other, but its numbers are known: they are kept in host memory next to
// its storage, so that its views have them as well.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "meta/fake/values_beside.h"

namespace symprof::meta {

/// A call with more result elements is not evaluated: its results have no values.
constexpr std::int64_t most_followed_elements = std::int64_t{1} << 20;
/// The limit for a program's floating-point results and for its copies from the host
/// (Factories::on_host).
constexpr std::int64_t most_followed_floats = std::int64_t{1} << 14;

/// Gives a fake tensor the numbers of `values`, a real tensor of its dtype and sizes. Only real
/// numbers of a byte and more are kept. Of a larger storage the rest stays as it was.
void give_values(const at::Tensor& fake, const at::Tensor& values);

/// As above, from bytes in row-major order.
void give_values(const at::Tensor& fake, std::span<const std::byte> values);

/// A tensor's numbers in host memory, read-only: a real tensor itself, or the known values of a
/// fake tensor (or its meta tensor). Empty if any is unknown.
std::optional<at::Tensor> known_values(const at::Tensor& tensor);

/// The known or assumed values, as known_values returns them.
std::optional<at::Tensor> assumed_values(const at::Tensor& tensor);
/// Marks the numbers in the storage of `fake` as assumed.
void set_assumed(const at::Tensor& fake);

/// Forgets the values in the part of the storage that `fake` views, which was overwritten with
/// unknown values.
void forget_values(const at::Tensor& fake);

/// Bounds of a tensor's numbers, from known values if there are any; unbounded if nothing is known.
ValueRange range_of(const at::Tensor& tensor);
/// True if it may have bounds; cheaper than range_of.
bool may_be_bounded(const at::Tensor& tensor);

/// Sets bounds of all numbers in the storage of `fake`; an unbounded `range` sets nothing.
void set_range(const at::Tensor& fake, const ValueRange& range);

bool has_upper_bound_size(const at::Tensor& tensor);
void set_upper_bound_size(const at::Tensor& fake);

/// True if `tensor` covers its whole storage.
bool is_whole_storage(const at::Tensor& tensor);

}  // namespace symprof::meta
