// Known values of a storage that has no memory.
#pragma once

#include <c10/core/Storage.h>

#include <optional>

#include "meta/fake/value_range.h"

namespace symprof::meta {

/// The known values of a storage.
struct ValuesBeside {
  c10::Storage numbers;  ///< The values, in host memory; none if all are unknown.
  /// If only some values are known: a byte for each byte of `numbers`, 1 for known ones.
  c10::Storage known_part;
  bool are_assumed = false;         ///< `numbers` are placeholders: tokens spread evenly.
  std::optional<ValueRange> range;  ///< The range of values that are not known.
  /// Some tensor of the storage has an upper bound in place of a data-dependent size.
  bool has_upper_bound_size = false;
};

}  // namespace symprof::meta
