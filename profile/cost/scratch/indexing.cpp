// Advanced indexing, and scatters to indexed positions. Sources:
// aten/src/ATen/native/TensorAdvancedIndexing.cpp (make_info, AdvancedIndex, scatter_reduce_two,
// index_reduce_func_impl), aten/src/ATen/native/cuda/Indexing.cu, IndexingUtils.h.
#include <optional>

#include "profile/cost/scratch/cub.h"
#include "profile/cost/scratch/families.h"
#include "profile/cost/scratch/index_lists.h"
#include "profile/cost/scratch/layout.h"
#include "profile/cost/scratch/masking.h"
#include "profile/cost/scratch/split_reduction.h"

namespace symprof::profile {
namespace {

/// (self, indices). The number of positions a mask selects comes from the output's size, if nothing
/// else is indexed.
Scratch index(const Call& call, const DeviceSpec& device) {
  const IndexList list = indices_of(call, 1);
  const TensorSpec* output = call.output(0);
  Scratch result;
  if (!list.has_mask()) {
    add_matching_indices(result, list);
  } else {
    const std::size_t at = list.first();
    const TensorSpec& mask = *list.by_dimension[at];
    if (list.count() > 1 || output == nullptr || at >= output->sizes.size() || mask.numel() == 0)
      result.is_incomplete = true;
    else
      add_mask(result, mask, output->sizes[at], device);
  }
  result.make_outputs();
  return result;
}

/// The arguments of index_put.
struct IndexPut {
  TensorSpec self, values;
  IndexList indices;
  bool checks = true;

  std::int64_t count() const { return indices.broadcast_elements(); }
  Count written() const { return Count(count()) * indices.elements_of_others(self); }
};

/// Adds the index range check: its minimum and maximum, each read on the host.
void add_check(Scratch& result, const TensorSpec& index, const DeviceSpec& device) {
  const std::size_t lowest = result.take(long_bytes), highest = result.take(long_bytes);
  const TensorSpec whole = row_major(DType::int64, index.sizes);
  if (is_row_major(index)) {
    add_reduction(result, extrema_of(whole), device);
  } else {
    const std::size_t copy = result.take(whole.bytes());
    add_reduction(result, extrema_of(whole), device);
    result.give_back(copy);
  }
  for (int i = 0; i < 2; ++i) result.give_back(result.take(1));
  result.give_back(lowest);
  result.give_back(highest);
}

/// Adds the linear index into the flattened tensor, made of all indices (makeLinearIndex).
void add_linear_index(Scratch& result, const IndexPut& put, const DeviceSpec& device) {
  IndexList list = put.indices;
  std::vector<std::size_t> converted;
  for (std::optional<TensorSpec>& index : list.by_dimension) {
    if (!index || index->dtype != DType::int32) continue;
    index = row_major(DType::int64, index->sizes);
    converted.push_back(result.take(index->bytes()));
  }
  list.expand();
  bool is_first = true;
  for (const std::optional<TensorSpec>& index : list.by_dimension) {
    if (!index) continue;
    if (put.checks) add_check(result, *index, device);
    const std::size_t wrapped = result.take(Count(index->numel()) * long_bytes);
    const std::size_t scaled = result.take(Count(index->numel()) * long_bytes);
    result.give_back(wrapped);
    if (!is_first) result.give_back(scaled);
    is_first = false;
  }
  for (const std::size_t block : converted) result.give_back(block);
}

/// Accumulation sorts the positions, so that equal ones are adjacent and each is summed by one
/// thread (index_put_with_sort_kernel).
void add_sums(Scratch& result, const IndexPut& put, const DeviceSpec& device) {
  const std::int64_t count = put.count();
  if (count == 0 || put.self.numel() == 0) return;
  if (!is_row_major(put.self)) result.take(put.self.bytes());
  add_linear_index(result, put, device);
  if (put.values.numel() < put.written().value() || !is_row_major(put.values))
    result.take(put.written() * element_bytes(put.values.dtype));
  if (!put.indices.are_adjacent()) result.take(put.self.bytes());  // Indexed dimensions first.
  for (int i = 0; i < 3; ++i)
    result.take(Count(count) * long_bytes);  // Sorted, original positions, range.
  const std::int64_t places = put.self.numel() / put.indices.elements_of_slice(put.self);
  result.take(cub::radix_sort_bytes({.items = count,
                                     .key_bytes = long_bytes,
                                     .value_bytes = long_bytes,
                                     .bits = cub::bits_up_to(places - 1)}));
}

/// (self, indices, values, accumulate, unsafe). The number of positions a mask selects depends on
/// data: at most all.
Scratch index_put(const Call& call, const DeviceSpec& device) {
  constexpr int self = 0, indices = 1, values = 2;
  if (call.input_at(self) == nullptr || call.input_at(values) == nullptr)
    return {.is_incomplete = true};
  const IndexPut put{.self = *call.input_at(self),
                     .values = *call.input_at(values),
                     .indices = indices_of(call, indices),
                     .checks = call.integer(4, 0, 0) == 0};
  Scratch result;
  if (put.indices.has_mask()) {
    result.is_incomplete = true;
    for (const std::optional<TensorSpec>& index : put.indices.by_dimension)
      if (index && is_mask(*index) && index->numel() > 0)
        add_mask(result, *index, index->numel(), device);
    return result;
  }
  if (put.indices.by_dimension.size() > put.self.sizes.size()) return {.is_incomplete = true};
  if (call.integer(3, 0, 0) == 0)
    add_matching_indices(result, put.indices);
  else
    add_sums(result, put, device);
  return result;
}

/// Copies of the indices, clamped into range.
IndexList clamped(Scratch& result, IndexList list) {
  for (std::optional<TensorSpec>& index : list.by_dimension) {
    if (!index) continue;
    index = row_major(index->dtype, index->sizes);
    result.take(index->bytes());
  }
  return list;
}

/// (self, mask, indices, fill): gathers all elements, then fills where the mask is false.
Scratch masked_index(const Call& call, const DeviceSpec&) {
  const TensorSpec *self = call.input_at(0), *mask = call.input_at(1);
  if (self == nullptr || mask == nullptr) return {.is_incomplete = true};
  Scratch result;
  const IndexList list = clamped(result, indices_of(call, 2));
  if (list.by_dimension.size() > self->sizes.size()) return {.is_incomplete = true};
  const std::size_t first = result.blocks.size();
  add_matching_indices(result, list);
  const std::size_t found =
      result.take(Count(list.broadcast_elements()) * list.elements_of_others(*self) *
                  element_bytes(self->dtype));
  for (std::size_t copy = first; copy < found; ++copy) result.give_back(copy);
  result.take(mask->numel());  // The inverted mask.
  result.make_outputs();
  return result;
}

/// (self, mask, indices, values): values are zeroed where the mask is false.
Scratch masked_index_put(const Call& call, const DeviceSpec& device) {
  const TensorSpec *self = call.input_at(0), *mask = call.input_at(1), *values = call.input_at(3);
  if (self == nullptr || mask == nullptr || values == nullptr) return {.is_incomplete = true};
  Scratch result;
  IndexPut put{.self = *self, .values = *values, .indices = clamped(result, indices_of(call, 2))};
  if (put.indices.by_dimension.size() > self->sizes.size()) return {.is_incomplete = true};
  const std::size_t inverse = result.take(mask->numel());
  put.values =
      row_major(values->dtype, mask->numel() > values->numel() ? mask->sizes : values->sizes);
  result.take(put.values.bytes());
  result.give_back(inverse);
  result.make_outputs();
  put.self = row_major(self->dtype, self->sizes);  // A copy, the output.
  add_sums(result, put, device);
  return result;
}

/// scatter_reduce(self, dim, index, src, reduce, include_self). Recordings omit the reduction:
/// assume the mean, which needs counts; the others need no scratch.
Scratch scatter_reduce(const Call& call, const DeviceSpec&) {
  const TensorSpec *self = call.input_at(0), *source = call.input_at(3);
  if (self == nullptr || source == nullptr) return {.is_incomplete = true};
  Scratch result;
  result.make_outputs();
  if (self->numel() == 0 || source->numel() == 0) return result;
  result.take(source->bytes());  // Ones, for the count.
  result.take(self->bytes());    // Count per position.
  result.take(self->numel());    // Mask of empty positions.
  return result;
}

/// index_reduce(self, dim, index, source, reduce, include_self), in the same way.
Scratch index_reduce(const Call& call, const DeviceSpec&) {
  const TensorSpec *self = call.input_at(0), *index = call.input_at(2), *source = call.input_at(3);
  if (self == nullptr || index == nullptr || source == nullptr) return {.is_incomplete = true};
  Scratch result;
  result.make_outputs();
  if (self->numel() == 0) return result;
  if (call.integer(5, 0, 1) == 0 && index->dtype == DType::int32)
    result.give_back(result.take(Count(index->numel()) * long_bytes));
  result.take(self->bytes());
  result.give_back(result.take(source->bytes()));
  result.take(self->numel());
  return result;
}

constexpr ScratchRule indexing_rows[] = {
    {"aten::index", index},
    {"aten::_unsafe_index", index},
    {"aten::index_put", index_put},
    {"aten::index_put_", index_put},
    {"aten::_unsafe_index_put", index_put},
    {"aten::_index_put_impl_", index_put},
    {"aten::_unsafe_masked_index", masked_index},
    {"aten::_unsafe_masked_index_put_accumulate", masked_index_put},
    {"aten::scatter_reduce", scatter_reduce},
    {"aten::scatter_reduce_", scatter_reduce},
    {"aten::index_reduce", index_reduce},
    {"aten::index_reduce_", index_reduce},
};

}  // namespace

ScratchRules indexing_scratch() { return indexing_rows; }

}  // namespace symprof::profile
