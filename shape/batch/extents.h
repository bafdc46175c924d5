// Where the batch is in a tensor: each dimension at the batch of the file and at another one.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "trace/passes/other_batch.h"

namespace symprof::shape {

using Numbers = std::vector<std::int64_t>;

/// The batch of the file, and the one that a graph is tried with.
struct Batches {
  std::int64_t file = 1;
  std::int64_t factor = 1;  ///< A prime: the other batch is the file's, this many times.

  std::int64_t tried() const { return file * factor; }
};

/// One dimension.
struct Extent {
  std::int64_t file = 0;   ///< Its size with the file's batch.
  std::int64_t tried = 0;  ///< Its size with the other one.
  /// How far samples are apart within the dimension, in the file, once for each time that the batch
  /// is a factor of it: 1 where the dimension is the batch, 16 where [batch, 16] became one
  /// dimension. Empty where the size is another sum of the batch.
  Numbers strides;

  bool scales() const { return file != tried; }
};

using Extents = std::vector<Extent>;

/// How often the batch is a factor of a size; empty where the size follows it otherwise.
std::optional<int> batch_power(std::int64_t file, std::int64_t tried, const Batches& batches);

/// What gives both sizes. Throws Error where nothing so simple does.
trace::BatchSize batch_size(std::int64_t file, std::int64_t tried, const Batches& batches);

/// The dimensions of a view of `from` which has the sizes `to` in the file. More than one answer
/// only where the batch is 1, which may be in several places: the likeliest first. None where the
/// view would cut the batch into parts.
std::vector<Extents> views(const Extents& from, const Numbers& to, const Batches& batches);

/// The dimensions of a result that is no view of one operand: samples lie in them as they do in the
/// operands' dimensions of the same sizes, else in those of the same place.
Extents result_extents(const Numbers& file, const Numbers& tried,
                       std::span<const Extents* const> operands, const Batches& batches);

/// A dimension in which the batch comes before all that it is joined with.
Extent outermost_extent(std::int64_t file, std::int64_t tried, const Batches& batches);

Numbers tried_sizes(const Extents& extents);
bool any_scales(const Extents& extents);

}  // namespace symprof::shape
