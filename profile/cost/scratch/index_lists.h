// The list of indices that index and index_put have: one for a dimension, or none.
#pragma once

#include <optional>
#include <vector>

#include "profile/cost/scratch/scratch.h"

namespace symprof::profile {

struct IndexList {
  std::vector<std::optional<TensorSpec>> by_dimension;

  std::size_t count() const;  ///< How many indices are given.
  std::size_t first() const;  ///< The dimension of the first index.
  bool has_mask() const;      ///< Whether one of them is a mask.
  /// Whether no dimension between two indices is taken whole.
  bool are_adjacent() const;
  /// The shape that all indices have once they are broadcast together.
  std::vector<std::int64_t> broadcast_sizes() const;
  std::int64_t broadcast_elements() const;
  /// Gives all indices one shape; what is repeated has stride 0.
  void expand();
  /// Product of the dimensions of `self` that have no index.
  Count elements_of_others(const TensorSpec& self) const;
  /// What lies together in `self` for each place: the dimensions after the last index, or all
  /// others where the indexed ones are brought to the front.
  std::int64_t elements_of_slice(const TensorSpec& self) const;
};

/// Booleans or bytes: true where an element is taken.
bool is_mask(const TensorSpec& index);

/// The indices at schema argument `position`.
IndexList indices_of(const Call& call, int position);

/// The kernel wants 64-bit indices of equal strides: others are copied.
void add_matching_indices(Scratch& scratch, IndexList list);

}  // namespace symprof::profile
