#include "workbench/difference.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace symprof::workbench {

void add_numbers(ValueDifference& out, std::span<const double> left, std::span<const double> right,
                 double tolerance, double magnitude) {
  for (std::size_t i = 0; i < left.size(); ++i) {
    const double x = left[i], y = right[i];
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    double gap = std::fabs(x - y);
    if (!std::isfinite(gap)) gap = std::numeric_limits<double>::infinity();
    const double size = std::isfinite(x) ? std::fabs(x) : 0;
    out.absolute = std::max(out.absolute, gap);
    out.relative = std::max(out.relative, gap / (size + 1e-7));
    if (!(gap <= tolerance * std::max({1.0, size, magnitude}))) out.is_within = false;
  }
}

}  // namespace symprof::workbench
