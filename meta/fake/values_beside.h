// What is known of the numbers in a storage that has no memory.
//
// Public header.
#pragma once

#include <c10/core/Storage.h>

#include <optional>

#include "meta/fake/value_range.h"

namespace symprof::meta {

/// What is known of the numbers in a storage.
struct ValuesBeside {
  c10::Storage numbers;  ///< In host memory; none where none is known.
  /// Where a part alone is known: a byte for each byte of `numbers`, 1 in the known part.
  c10::Storage known_part;
  bool are_assumed = false;           ///< `numbers` stand for others: tokens spread evenly.
  std::optional<ValueRange> range;    ///< Of numbers that are not known.
  bool has_upper_bound_size = false;  ///< An upper bound stands for a size of its tensors.
};

}  // namespace symprof::meta
