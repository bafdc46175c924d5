#include "plan/batches.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <random>
#include <utility>

namespace symprof::plan {
namespace {

/// std::shuffle's order is the library's own.
void shuffle_by(std::vector<std::int64_t>& items, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[random() % i]);
}

std::int64_t padded(std::int64_t length, const BatchRule& rule) {
  return (length + rule.pad_to - 1) / rule.pad_to * rule.pad_to;
}

Batch with_sample(Batch batch, std::int64_t length, const BatchRule& rule) {
  ++batch.samples;
  batch.length = std::max(batch.length, padded(length, rule));
  batch.tokens += length;
  return batch;
}

bool is_over(const Batch& batch, const BatchRule& rule) {
  const bool counts_tokens = rule.limit == BatchLimit::tokens;
  return (counts_tokens ? batch.padded_tokens() : batch.samples) > rule.most;
}

}  // namespace

std::vector<Batch> make_batches(std::span<const std::int64_t> lengths, const BatchRule& rule) {
  std::vector<std::int64_t> samples(lengths.begin(), lengths.end());
  if (rule.shuffle_seed) shuffle_by(samples, *rule.shuffle_seed);
  std::vector<Batch> batches;
  std::map<std::int64_t, Batch> open;  // By bucket.
  for (const std::int64_t length : samples) {
    Batch& batch = open[rule.bucket > 0 ? (length - 1) / rule.bucket : 0];
    if (batch.samples > 0 && is_over(with_sample(batch, length, rule), rule))
      batches.push_back(std::exchange(batch, {}));
    batch = with_sample(batch, length, rule);
    if (rule.limit == BatchLimit::samples && batch.samples == rule.most)
      batches.push_back(std::exchange(batch, {}));
  }
  for (const auto& [bucket, batch] : open)
    if (batch.samples > 0) batches.push_back(batch);
  return batches;
}

std::vector<std::int64_t> lognormal_lengths(const Lognormal& distribution) {
  std::mt19937_64 random(distribution.seed);
  // In (0, 1). std::lognormal_distribution is the library's own.
  const auto uniform = [&] { return (static_cast<double>(random() >> 11) + 0.5) * 0x1p-53; };
  std::vector<std::int64_t> lengths(static_cast<std::size_t>(distribution.count));
  for (std::int64_t& length : lengths) {
    const double radius = std::sqrt(-2 * std::log(uniform()));  // Box and Muller.
    const double normal = radius * std::cos(2 * std::numbers::pi * uniform());
    const double drawn = distribution.median * std::exp(distribution.sigma * normal);
    length = static_cast<std::int64_t>(
        std::round(std::clamp(drawn, 1.0, static_cast<double>(distribution.max))));
  }
  return lengths;
}

}  // namespace symprof::plan
