// Indices that are looked up, checked, sorted. Sources: aten/src/ATen/native/cuda/{Indexing,
// Embedding,EmbeddingBackwardKernel,Nonzero}.cu, IndexingUtils.h, TensorAdvancedIndexing.cpp.
#include <algorithm>
#include <optional>

#include "profile/temporaries/cub.h"
#include "profile/temporaries/layout.h"
#include "profile/temporaries/split_reduction.h"

namespace symprof::profile {
namespace {

constexpr std::int64_t float_bytes = 4, long_bytes = 8, count_bytes = 4;

/// The rows of each run of equal indices are summed in pieces of ten, in fp32
/// (embedding_backward_cuda_kernel).
void add_segment_sums(Temporaries& result, const TensorSpec& indices, std::int64_t width,
                      std::int64_t rows) {
  constexpr std::int64_t rows_of_piece = 10;
  const std::int64_t count = indices.numel(), index = element_bytes(indices.dtype);
  const std::int64_t segments = std::min(count, rows);
  const std::int64_t pieces = count / rows_of_piece + segments;
  result.take(count * index);  // Where each run begins.
  result.take(long_bytes);     // How many runs.
  const std::size_t unused_keys = result.take(count * index);
  const std::size_t selection = result.take(cub::unique_by_key_bytes(count));
  result.give_back(selection);
  result.give_back(unused_keys);
  result.take(segments * index);  // Pieces of each run.
  result.take(segments * index);  // The first of each.
  result.give_back(result.take(cub::scan_bytes(segments, index)));
  result.take(long_bytes);
  result.take(pieces * index);
  result.take(Count(pieces) * width * float_bytes);
}

/// Up to 3072 indices one kernel does it all; more are sorted. (gradient [.., width], indices,
/// num_weights, padding_idx, scale_grad_by_freq)
Temporaries embedding_backward(const Call& call, const DeviceSpec&) {
  constexpr std::int64_t most_unsorted = 3072;
  const TensorSpec *gradient = call.input_at(0), *indices = call.input_at(1);
  if (gradient == nullptr || indices == nullptr) return {.is_incomplete = true};
  const bool is_scaled = call.integer(4, 0, 0) != 0;
  const std::int64_t count = indices->numel(), rows = call.integer(2, 0, 0);
  Temporaries result;
  if (!is_row_major(*gradient)) result.take(gradient->bytes());
  if (count == 0 || (count <= most_unsorted && !is_scaled)) {
    result.make_outputs();
    return result;
  }
  const std::int64_t index = element_bytes(indices->dtype);
  result.take(indices->bytes());  // Sorted.
  result.take(indices->bytes());  // Where each came from.
  const std::size_t range = result.take(indices->bytes());
  const std::size_t sort = result.take(cub::radix_sort_bytes(
      {.items = count, .key_bytes = index, .value_bytes = index, .bits = cub::bits_up_to(rows)}));
  result.give_back(sort);
  result.give_back(range);
  if (is_scaled) {  // How often each comes, counted within runs forth and back.
    result.take(indices->bytes());
    for (int i = 0; i < 2; ++i) result.give_back(result.take(cub::scan_by_key_bytes(count, index)));
  }
  result.make_outputs();
  add_segment_sums(result, *indices, gradient->sizes.back(), rows);
  return result;
}

bool is_mask(const TensorSpec& index) {
  return index.dtype == DType::boolean || index.dtype == DType::uint8;
}

/// Counts what is not zero, and selects the places of it; a single number has none.
void add_nonzero(Temporaries& result, const TensorSpec& tensor, const DeviceSpec& device) {
  if (!is_row_major(tensor)) result.take(tensor.bytes());
  const std::size_t count = result.take(count_bytes);
  result.give_back(result.take(cub::count_bytes(tensor.numel(), device)));
  if (!tensor.sizes.empty()) result.give_back(result.take(cub::select_bytes(tensor.numel())));
  result.give_back(count);
}

Temporaries nonzero(const Call& call, const DeviceSpec& device) {
  if (call.input_count() != 1) return {.is_incomplete = true};
  Temporaries result;
  add_nonzero(result, *call.input(0), device);
  result.make_outputs();
  return result;
}

/// A mask becomes the places where it is true: as many as the output has rows.
void add_mask(Temporaries& result, const TensorSpec& mask, std::int64_t selected,
              const DeviceSpec& device) {
  add_nonzero(result, mask.sizes.empty() ? row_major(mask.dtype, {1}) : mask, device);
  result.take(Count(selected) * static_cast<std::int64_t>(mask.sizes.size()) * long_bytes);
}

/// (self, mask)
Temporaries masked_select(const Call& call, const DeviceSpec& device) {
  const TensorSpec *self = call.input_at(0), *mask = call.input_at(1), *output = call.output(0);
  if (self == nullptr || mask == nullptr || output == nullptr || self->sizes != mask->sizes)
    return {.is_incomplete = true};
  Temporaries result;
  if (mask->numel() > 0) add_mask(result, *mask, output->numel(), device);
  result.make_outputs();
  return result;
}

/// (self, indices). Only the first mask is known by the output's size.
Temporaries index(const Call& call, const DeviceSpec& device) {
  Temporaries result;
  for (std::size_t i = 1; call.input(i) != nullptr; ++i) {
    if (!is_mask(*call.input(i))) continue;
    if (i > 1 || call.output(0) == nullptr || call.output(0)->sizes.empty() ||
        call.input(1)->numel() == 0) {
      result.is_incomplete = true;
      break;
    }
    add_mask(result, *call.input(i), call.output(0)->sizes[0], device);
  }
  result.make_outputs();
  return result;
}

/// (self, mask, source): which element of the source each place gets.
Temporaries masked_scatter(const Call& call, const DeviceSpec&) {
  if (call.input_count() < 2) return {.is_incomplete = true};
  const std::int64_t elements = std::max(call.input(0)->numel(), call.input(1)->numel());
  if (elements == 0) return {};
  Temporaries result;
  result.take(Count(elements) * long_bytes);
  if (const TensorSpec& mask = *call.input(1); mask.numel() < elements || !is_row_major(mask))
    result.take(elements);
  result.take(cub::scan_bytes(elements, long_bytes));
  return result;
}

/// The arguments of index_put.
struct IndexPut {
  TensorSpec self, values;
  std::vector<TensorSpec> indices;  ///< Those that are given, side by side.
  std::size_t first = 0;            ///< The dimension that the first one stands at.
  bool checks = true;

  std::int64_t count() const {  ///< Of places, after the indices are broadcast.
    std::int64_t most = 0;
    for (const TensorSpec& tensor : indices) most = std::max(most, tensor.numel());
    return most;
  }
  /// Of the flat tensor, that an index can name.
  std::int64_t places() const {
    std::int64_t product = 1;
    for (std::size_t i = 0; i < first + indices.size(); ++i) product *= self.sizes[i];
    return product;
  }
  Count written() const {
    Count product = count();
    for (std::size_t i = 0; i < self.sizes.size(); ++i)
      if (i < first || i >= first + indices.size()) product *= self.sizes[i];
    return product;
  }
};

/// Empty where the masks' true elements decide sizes, or None stands between indices.
std::optional<IndexPut> index_put_of(const Call& call) {
  constexpr int self = 0, indices = 1, values = 2;
  if (call.input_at(self) == nullptr || call.input_at(values) == nullptr) return std::nullopt;
  IndexPut put{.self = *call.input_at(self),
               .values = *call.input_at(values),
               .checks = call.integer(4, 0, 0) == 0};
  std::size_t dimension = 0;
  for (std::size_t i = 0; i < call.record().inputs.size(); ++i) {
    if (call.record().input_positions[i] != indices) continue;
    const TensorSpec* index = call.spec(call.record().inputs[i]);
    if (index != nullptr) {
      if (put.indices.empty()) put.first = dimension;
      if (is_mask(*index) || put.first + put.indices.size() != dimension) return std::nullopt;
      put.indices.push_back(*index);
    }
    ++dimension;
  }
  if (put.first + put.indices.size() > put.self.sizes.size()) return std::nullopt;
  return put;
}

/// Whether an index is out of range: its extremes, each looked at on the host.
void add_check(Temporaries& result, const TensorSpec& index, const DeviceSpec& device) {
  const std::size_t lowest = result.take(long_bytes), highest = result.take(long_bytes);
  add_reduction(result,
                {.input = index,
                 .is_reduced = std::vector<bool>(index.sizes.size(), true),
                 .output = DType::int64,
                 .accumulator_bytes = 2 * long_bytes,
                 .accumulates_in_output = false},
                device);
  for (int i = 0; i < 2; ++i) result.give_back(result.take(1));
  result.give_back(lowest);
  result.give_back(highest);
}

/// All indices as one into the flat tensor (computeLinearIndex).
void add_linear_index(Temporaries& result, const IndexPut& put, const DeviceSpec& device) {
  for (std::size_t i = 0; i < put.indices.size(); ++i) {
    const TensorSpec& index = put.indices[i];
    if (put.checks) add_check(result, index, device);
    const std::size_t wrapped = result.take(Count(index.numel()) * long_bytes);
    const std::size_t scaled = result.take(Count(index.numel()) * long_bytes);
    result.give_back(wrapped);
    if (i > 0) result.give_back(scaled);
  }
}

/// (self, indices, values, accumulate, unsafe). Sums sort the places, so that equal ones lie
/// together and each is summed by one thread (index_put_with_sort_kernel).
Temporaries index_put(const Call& call, const DeviceSpec& device) {
  const std::optional<IndexPut> put = index_put_of(call);
  if (!put) return {.is_incomplete = true};
  const std::int64_t count = put->count();
  if (call.integer(3, 0, 0) == 0 || count == 0) return {};
  if (!is_row_major(put->self)) return {.is_incomplete = true};
  Temporaries result;
  add_linear_index(result, *put, device);
  if (put->values.numel() < put->written().value() || !is_row_major(put->values))
    result.take(put->written() * element_bytes(put->values.dtype));
  for (int i = 0; i < 3; ++i) result.take(Count(count) * long_bytes);  // Sorted, origin, range.
  result.take(cub::radix_sort_bytes({.items = count,
                                     .key_bytes = long_bytes,
                                     .value_bytes = long_bytes,
                                     .bits = cub::bits_up_to(put->places())}));
  return result;
}

constexpr TemporariesRule rows[] = {
    {"aten::embedding_dense_backward", embedding_backward},
    {"aten::nonzero", nonzero},
    {"aten::masked_select", masked_select},
    {"aten::masked_scatter", masked_scatter},
    {"aten::masked_scatter_", masked_scatter},
    {"aten::index", index},
    {"aten::index_put", index_put},
    {"aten::index_put_", index_put},
    {"aten::_index_put_impl_", index_put},
};

}  // namespace

TemporariesRules indexing_temporaries() { return rows; }

}  // namespace symprof::profile
