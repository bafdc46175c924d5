#include "workbench/compare/difference.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "workbench/compare/side.h"

namespace symprof::workbench {
namespace {

void add_tensors(ValueDifference& out, const ConstantTensor& x, const ConstantTensor& y,
                 double tolerance) {
  if (x.spec.sizes != y.spec.sizes) {
    out.other = fmt::format("shape {} instead of {}", y.spec.sizes, x.spec.sizes);
    return;
  }
  const std::vector<double> left = parts_of(x), right = parts_of(y);
  const auto count = static_cast<std::size_t>(x.spec.numel());
  if (left.size() == right.size() && left.size() >= count)
    add_numbers(out, left, right, tolerance);
  else if (x.spec.dtype != y.spec.dtype || x.data != y.data)  // Not numeric: compare bits.
    out.other = "other bits";
}

}  // namespace

ValueDifference difference_of(const ValueRunner::Tensors& x, const ValueRunner::Tensors& y,
                              double tolerance) {
  ValueDifference out;
  if (x.size() != y.size()) out.other = fmt::format("{} tensors instead of {}", y.size(), x.size());
  for (std::size_t i = 0; i < x.size() && out.other.empty(); ++i)
    add_tensors(out, *x[i], *y[i], tolerance);
  out.is_within &= out.other.empty();
  return out;
}

}  // namespace symprof::workbench
