// The cost of one call, and the confidence of that estimate.
//
// Public header.
#pragma once

#include <cstdint>

namespace symprof {

/// Confidence of a figure.
enum class Confidence : std::uint8_t {
  exact,       ///< Counted from shapes by a rule that equals PyTorch's own formula.
  modelled,    ///< A documented approximation.
  free,        ///< Views and metadata: costs nothing.
  unmodelled,  ///< No rule: counted in the coverage, excluded from totals.
};

/// Cost of one call. A multiply-add is 2 FLOPs.
struct Cost {
  std::int64_t product_flops = 0;  ///< Matrix products, convolutions, attention.
  std::int64_t other_flops = 0;    ///< Element-wise, reductions, normalization, …
  std::int64_t bytes_read = 0;
  std::int64_t bytes_written = 0;
  Confidence confidence = Confidence::unmodelled;
  std::int64_t transfer_bytes = 0;  ///< Copied between host and device memory, both directions.
};

}  // namespace symprof

namespace symprof::profile {

/// A rank, 0 for the least certain: unmodelled, modelled, exact, free.
constexpr int certainty(Confidence confidence) {
  switch (confidence) {
    case Confidence::unmodelled:
      return 0;
    case Confidence::modelled:
      return 1;
    case Confidence::exact:
      return 2;
    case Confidence::free:
      return 3;
  }
  return 0;
}

/// The less certain of two confidences.
constexpr Confidence least_certain(Confidence a, Confidence b) {
  return certainty(a) < certainty(b) ? a : b;
}

}  // namespace symprof::profile
