// The index list of index and index_put: one index or none for each dimension.
#pragma once

#include <optional>
#include <vector>

#include "profile/cost/scratch/scratch.h"

namespace symprof::profile {

struct IndexList {
  std::vector<std::optional<TensorSpec>> by_dimension;

  std::size_t count() const;  ///< Number of indices given.
  std::size_t first() const;  ///< The dimension of the first index.
  bool has_mask() const;      ///< True if any index is a mask.
  /// True if no unindexed dimension lies between two indexed ones.
  bool are_adjacent() const;
  /// The common broadcast shape of all indices.
  std::vector<std::int64_t> broadcast_sizes() const;
  std::int64_t broadcast_elements() const;
  /// Broadcasts all indices to one shape; repeated dimensions have stride 0.
  void expand();
  /// Product of the unindexed dimensions of `self`.
  Count elements_of_others(const TensorSpec& self) const;
  /// Contiguous elements of `self` per indexed position: the dimensions after the last index, or
  /// all unindexed ones if the indexed ones are moved to the front.
  std::int64_t elements_of_slice(const TensorSpec& self) const;
};

/// True for a bool or byte index, which selects elements where it is true.
bool is_mask(const TensorSpec& index);

/// The indices at schema argument `position`.
IndexList indices_of(const Call& call, int position);

/// Adds copies of the indices that are not 64-bit with equal strides, as the kernel requires.
void add_matching_indices(Scratch& scratch, IndexList list);

}  // namespace symprof::profile
