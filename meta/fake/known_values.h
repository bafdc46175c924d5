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

#include "meta/fake/value_range.h"

namespace symprof::meta {

/// A call that makes more elements than this is not followed: its results have no values.
constexpr std::int64_t most_followed_elements = std::int64_t{1} << 20;
/// The same of a program's floating-point results and of what it copies from the host
/// (Factories::on_host).
constexpr std::int64_t most_followed_floats = std::int64_t{1} << 14;

/// What is known of the numbers in a storage.
struct ValuesBeside {
  c10::Storage numbers;  ///< In host memory; none where none is known.
  /// Where a part alone is known: a byte for each byte of `numbers`, 1 in the known part.
  c10::Storage known_part;
  bool are_assumed = false;           ///< `numbers` stand for others: tokens spread evenly.
  std::optional<ValueRange> range;    ///< Of numbers that are not known.
  bool has_upper_bound_size = false;  ///< An upper bound stands for a size of its tensors.
};

/// Gives a fake tensor the numbers of `values`, a real tensor of its dtype and sizes. Only real
/// numbers of a byte and more are kept. Of a larger storage the rest stays as it was.
void give_values(const at::Tensor& fake, const at::Tensor& values);

/// The same with their bytes, row by row.
void give_values(const at::Tensor& fake, std::span<const std::byte> values);

/// The numbers of a tensor, in host memory, for reading alone: of a real tensor itself, of a fake
/// one (or the meta tensor behind it) what is known. Empty where not all of them are.
std::optional<at::Tensor> known_values(const at::Tensor& tensor);

/// Numbers that stand for those of a tensor, known or assumed, as known_values gives them.
std::optional<at::Tensor> assumed_values(const at::Tensor& tensor);
/// From here on the numbers in the storage of `fake` are assumed.
void set_assumed(const at::Tensor& fake);

/// The part of a storage that `fake` shows was written, and nobody knows with what.
void forget_values(const at::Tensor& fake);

/// Where the numbers of a tensor lie, by their values where those are known; without bounds where
/// nothing is known.
ValueRange range_of(const at::Tensor& tensor);
/// Whether it may have bounds: to look costs less than to find them.
bool may_be_bounded(const at::Tensor& tensor);

/// All that the storage of `fake` holds lies in `range`; without bounds nothing is said of it.
void set_range(const at::Tensor& fake, const ValueRange& range);

bool has_upper_bound_size(const at::Tensor& tensor);
void set_upper_bound_size(const at::Tensor& fake);

/// The storage that `tensor` lies in holds nothing else.
bool is_whole_storage(const at::Tensor& tensor);

}  // namespace symprof::meta
