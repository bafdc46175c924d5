#include "profile/cost/scratch/index_lists.h"

#include <algorithm>

#include "profile/cost/scratch/layout.h"

namespace symprof::profile {
namespace {

bool is_given(const std::optional<TensorSpec>& index) { return index.has_value(); }

std::int64_t product(const std::vector<std::int64_t>& sizes, std::size_t first = 0) {
  Count result = 1;
  for (std::size_t i = first; i < sizes.size(); ++i) result *= sizes[i];
  return result.value();
}

}  // namespace

std::size_t IndexList::count() const {
  return static_cast<std::size_t>(std::ranges::count_if(by_dimension, is_given));
}

std::size_t IndexList::first() const {
  return static_cast<std::size_t>(std::ranges::find_if(by_dimension, is_given) -
                                  by_dimension.begin());
}

bool IndexList::has_mask() const {
  return std::ranges::any_of(by_dimension,
                             [](const auto& index) { return index && is_mask(*index); });
}

bool IndexList::are_adjacent() const {
  const auto first = std::ranges::find_if(by_dimension, is_given);
  const auto gap = std::find_if_not(first, by_dimension.end(), is_given);
  return std::none_of(gap, by_dimension.end(), is_given);
}

std::vector<std::int64_t> IndexList::broadcast_sizes() const {
  std::vector<std::int64_t> sizes;
  for (const std::optional<TensorSpec>& index : by_dimension)
    if (index) broadcast(sizes, index->sizes);
  return sizes;
}

std::int64_t IndexList::broadcast_elements() const { return product(broadcast_sizes()); }

void IndexList::expand() {
  const std::vector<std::int64_t> sizes = broadcast_sizes();
  for (std::optional<TensorSpec>& index : by_dimension) {
    if (!index) continue;
    const std::size_t lead = sizes.size() - index->sizes.size();
    std::vector<std::int64_t> strides(sizes.size(), 0);
    for (std::size_t i = 0; i < index->sizes.size(); ++i)
      if (index->sizes[i] == sizes[lead + i]) strides[lead + i] = index->strides[i];
    index->sizes = sizes;
    index->strides = std::move(strides);
  }
}

Count IndexList::elements_of_others(const TensorSpec& self) const {
  Count result = 1;
  for (std::size_t i = 0; i < self.sizes.size(); ++i)
    if (i >= by_dimension.size() || !by_dimension[i]) result *= self.sizes[i];
  return result;
}

std::int64_t IndexList::elements_of_slice(const TensorSpec& self) const {
  if (!are_adjacent()) return elements_of_others(self).value();
  std::size_t after = by_dimension.size();
  while (after > 0 && !by_dimension[after - 1]) --after;
  return product(self.sizes, after);
}

bool is_mask(const TensorSpec& index) {
  return index.dtype == DType::boolean || index.dtype == DType::uint8;
}

IndexList indices_of(const Call& call, int position) {
  IndexList list;
  const CallRecord& record = call.record();
  for (std::size_t i = 0; i < record.inputs.size(); ++i) {
    if (record.input_positions[i] != position) continue;
    const TensorSpec* index = call.spec(record.inputs[i]);
    list.by_dimension.push_back(index == nullptr ? std::nullopt : std::optional(*index));
  }
  return list;
}

void add_matching_indices(Scratch& scratch, IndexList list) {
  list.expand();
  const std::vector<std::int64_t>* strides = nullptr;
  bool do_match = true;
  for (std::optional<TensorSpec>& index : list.by_dimension) {
    if (!index) continue;
    if (index->dtype == DType::int32) {
      index = row_major(DType::int64, index->sizes);
      scratch.take(index->bytes());
    }
    if (strides == nullptr) strides = &index->strides;
    do_match = do_match && *strides == index->strides;
  }
  if (do_match) return;
  for (const std::optional<TensorSpec>& index : list.by_dimension)
    if (index && !is_row_major(*index)) scratch.take(row_major(DType::int64, index->sizes).bytes());
}

}  // namespace symprof::profile
