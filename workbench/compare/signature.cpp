#include <algorithm>
#include <cmath>
#include <vector>

#include "workbench/compare/row.h"

namespace symprof::workbench {
namespace {

constexpr double largest_sum = 1e10;
constexpr std::size_t lanes = 8;
constexpr std::size_t block = 128;

/// Sums up to `block` numbers in eight accumulators: numpy's pairwise_sum
/// (numpy/_core/src/umath/loops_utils.h.src).
double block_sum(std::span<const double> values) {
  std::array<double, lanes> lane{};
  for (std::size_t k = 0; k < lanes; ++k) lane[k] = values[k];
  std::size_t at = lanes;
  for (; at + lanes <= values.size(); at += lanes)
    for (std::size_t k = 0; k < lanes; ++k) lane[k] += values[at + k];
  double sum =
      ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]));
  for (; at < values.size(); ++at) sum += values[at];
  return sum;
}

double pairwise_sum(std::span<const double> values) {
  if (values.size() < lanes) {
    double sum = -0.0;
    for (const double value : values) sum += value;
    return sum;
  }
  if (values.size() <= block) return block_sum(values);
  std::size_t half = values.size() / 2;
  half -= half % lanes;
  return pairwise_sum(values.first(half)) + pairwise_sum(values.subspan(half));
}

}  // namespace

char signature_letter(double sum) {
  if (!(std::abs(sum) < largest_sum)) return '?';
  const auto rest = static_cast<std::int64_t>(sum) % 26;
  return static_cast<char>('A' + (rest < 0 ? rest + 26 : rest));
}

Signature signature_of(std::span<const double> values) {
  Signature found;
  const std::size_t parts = found.sums.size();
  if (values.size() <= parts) {
    for (std::size_t k = 0; k < values.size(); ++k) found.sums[k] = values[k];
  } else {
    const std::size_t length = (values.size() + parts - 1) / parts;
    for (std::size_t k = 0; k < parts; ++k) {
      const std::size_t begin = std::min(k * length, values.size());
      const auto part = values.subspan(begin, std::min(length, values.size() - begin));
      if (part.size() == length) {
        found.sums[k] = pairwise_sum(part);
        continue;
      }
      // Padding with zeros changes the order of summation.
      std::vector<double> filled(part.begin(), part.end());
      filled.resize(length, 0.0);
      found.sums[k] = pairwise_sum(filled);
    }
  }
  for (std::size_t k = 0; k < parts; ++k) found.letters[k] = signature_letter(found.sums[k]);
  return found;
}

}  // namespace symprof::workbench
