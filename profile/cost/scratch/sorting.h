// Sorting, for operators that are made of them.
#pragma once

#include <cstddef>

#include "profile/cost/scratch/scratch.h"

namespace symprof::profile {

/// The dimension that a call names, from 0; a number counts as one element.
std::size_t dimension_of(const TensorSpec& tensor, std::int64_t named);

/// What sort takes beside its outputs.
void add_sort(Scratch& scratch, const TensorSpec& self, std::size_t dimension);

/// A row, sorted: its values and where each came from, which stay.
struct SortedRow {
  std::size_t values, indices;

  SortedRow(Scratch& scratch, const TensorSpec& row);
};

/// Where each block stands in its search for the k-th value, if blocks share rows (mbtopk::launch
/// in TensorTopK.cu).
void add_search_of_largest(Scratch& scratch, const TensorSpec& self, std::size_t dimension,
                           const DeviceSpec& device);

}  // namespace symprof::profile
