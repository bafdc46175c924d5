// Samples of different lengths as the batches of a training run.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace symprof::plan {

struct Batch {
  std::int64_t samples = 0;
  std::int64_t length = 0;  ///< Of each sample, padded.
  std::int64_t tokens = 0;  ///< Without padding.

  std::int64_t padded_tokens() const { return samples * length; }
  bool operator==(const Batch&) const = default;
};

/// What closes a batch.
enum class BatchLimit : std::uint8_t {
  samples,
  tokens,  ///< With padding; a sample that alone is longer is a batch of its own.
};

struct BatchRule {
  BatchLimit limit = BatchLimit::samples;
  std::int64_t most = 1;  ///< Samples or tokens of a batch.
  /// Above 0: only samples whose lengths are in the same range of so many are batched together.
  std::int64_t bucket = 0;
  std::int64_t pad_to = 1;  ///< Batches are padded to their longest sample, up to a multiple.
  /// The samples are shuffled first; empty: as they come.
  std::optional<std::uint64_t> shuffle_seed;
};

/// The batches in the order in which they are full; those that are not, in the end, by length.
std::vector<Batch> make_batches(std::span<const std::int64_t> lengths, const BatchRule& rule);

struct Lognormal {
  double median = 0, sigma = 0;
  std::int64_t max = 0, count = 0;
  std::uint64_t seed = 0;
};

/// Lengths of at least 1 and at most `max`, the same for the same seed everywhere.
std::vector<std::int64_t> lognormal_lengths(const Lognormal& distribution);

}  // namespace symprof::plan
