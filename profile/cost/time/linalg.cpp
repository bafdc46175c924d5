// Dense linear algebra: cuSOLVER and MAGMA process one panel of columns after another. There are no
// public measurements by size: panel products and launches approximate it, marked as not measured.
#include <algorithm>

#include "profile/cost/time/families.h"
#include "profile/cost/time/launches.h"

namespace symprof::profile {
namespace {

constexpr std::int64_t panel = 64;  ///< Columns.
/// Per panel: its factorization, the rows beside it, the update of the trailing matrix.
constexpr std::int64_t panel_launches = 3;

LaunchEstimate factorizes(const Call& call, const Cost& cost, const DeviceSpec& device) {
  const TensorSpec* matrix = call.input_at(0);
  if (!matrix || matrix->sizes.size() < 2 || cost.confidence == Confidence::unmodelled)
    return std::nullopt;
  const std::optional<TimeClass> time_class = product_class(matrix->dtype, device);
  const std::int64_t m = *(matrix->sizes.end() - 2), n = matrix->sizes.back();
  if (!time_class) return std::nullopt;
  if (numbers(*matrix) == 0) return Launches{.is_rough = true};
  const std::int64_t depth =
      std::max<std::int64_t>((cost.product_flops + cost.other_flops) / (2 * numbers(*matrix)), 1);
  const std::int64_t bytes = element_bytes(matrix->dtype);
  const ProductWork product{numbers(*matrix) / (m * n), m, n, depth, bytes, bytes, 1};
  const std::int64_t panels = (std::min(m, n) + panel - 1) / panel;
  return Launches{.kernels = {{*time_class, product, static_cast<int>(panels * panel_launches)}},
                  .is_rough = true};
}

/// Transforms and distances are memory-bound; transforms take about two passes.
template <int percent, int launches>
LaunchEstimate moves_roughly(const Call&, const Cost& cost, const DeviceSpec&) {
  LaunchEstimate moves = moved(cost, TimeClass::elementwise, percent / 100.0, launches);
  if (moves) moves->is_rough = true;
  return moves;
}

constexpr TimeRule linalg_time_rows[] = {
    {"aten::_fft_c2c", moves_roughly<200, 2>},
    {"aten::_fft_c2r", moves_roughly<200, 2>},
    {"aten::_fft_r2c", moves_roughly<200, 2>},
    {"aten::_cdist_forward", moves_roughly<100, 1>},
    {"aten::_cdist_backward", moves_roughly<100, 1>},
    {"aten::_euclidean_dist", moves_roughly<100, 1>},
    {"aten::_pdist_forward", moves_roughly<100, 1>},
    {"aten::_pdist_backward", moves_roughly<100, 1>},
    {"aten::linalg_cross", moves_roughly<100, 1>},
};

}  // namespace

TimeRules linalg_times() { return {factorizes, linalg_time_rows}; }

}  // namespace symprof::profile
