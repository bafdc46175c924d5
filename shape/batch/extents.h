// Position of the batch in a tensor: the size of each dimension with the file's batch and with
// another one.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "trace/passes/other_batch.h"

namespace symprof::shape {

using Numbers = std::vector<std::int64_t>;

/// The file's batch and the batch of the trial run.
struct Batches {
  std::int64_t file = 1;
  std::int64_t factor = 1;  ///< A prime; the other batch is the file's batch times this.

  std::int64_t tried() const { return file * factor; }
};

/// One dimension.
struct Extent {
  std::int64_t file = 0;   ///< Size with the file's batch.
  std::int64_t tried = 0;  ///< Size with the other batch.
  /// Strides between samples within the dimension (file's batch), one for each time that the batch
  /// is a factor of the size: 1 if the dimension is the batch, 16 if [batch, 16] became one
  /// dimension. Empty if the size depends on the batch in another way.
  Numbers strides;

  bool scales() const { return file != tried; }
};

using Extents = std::vector<Extent>;

/// The power of the batch in a size; empty if the size depends on the batch in another way.
std::optional<int> batch_power(std::int64_t file, std::int64_t tried, const Batches& batches);

/// The formula in the batch that gives both sizes. Throws Error if no linear formula or power does.
trace::BatchSize batch_size(std::int64_t file, std::int64_t tried, const Batches& batches);

/// The possible dimensions of a view of `from` with the sizes `to` (file's batch), the most likely
/// first. Several only for a batch of 1, whose position is ambiguous; none if the view would split
/// the batch.
std::vector<Extents> views(const Extents& from, const Numbers& to, const Batches& batches);

/// The dimensions of a result that is no view of one operand: the batch lies in them as in the
/// operands' dimensions of the same sizes, else of the same position.
Extents result_extents(const Numbers& file, const Numbers& tried,
                       std::span<const Extents* const> operands, const Batches& batches);

/// A dimension with the batch as its outermost factor.
Extent outermost_extent(std::int64_t file, std::int64_t tried, const Batches& batches);

Numbers tried_sizes(const Extents& extents);
bool any_scales(const Extents& extents);

}  // namespace symprof::shape
