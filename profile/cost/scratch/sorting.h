// Sorting, for all operators that sort.
#pragma once

#include <cstddef>

#include "profile/cost/scratch/scratch.h"

namespace symprof::profile {

/// The dimension `named`, counted from 0; a scalar counts as one element.
std::size_t dimension_of(const TensorSpec& tensor, std::int64_t named);

/// Adds the scratch of sort.
void add_sort(Scratch& scratch, const TensorSpec& self, std::size_t dimension);

/// Sorts a row. The blocks of its values and of their original indices stay held.
struct SortedRow {
  std::size_t values, indices;

  SortedRow(Scratch& scratch, const TensorSpec& row);
};

/// Adds each block's search state for the k-th value, if blocks share rows (mbtopk::launch in
/// TensorTopK.cu).
void add_search_of_largest(Scratch& scratch, const TensorSpec& self, std::size_t dimension,
                           const DeviceSpec& device);

}  // namespace symprof::profile
