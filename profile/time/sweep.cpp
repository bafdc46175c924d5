#include "profile/time/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/error.h"
#include "profile/time/formula.h"
#include "profile/time/residuals.h"

namespace symprof::profile {
namespace {

struct Waiting {
  Kernel kernel;
  std::vector<double> sizes;
  double uncertainty = 0;
};

/// The waiting kernels and the known points of one class.
struct ClassSweep {
  std::vector<Waiting> waiting;
  std::vector<ResidualPoint> known;

  /// The uncertainty depends only on sizes, not on residuals.
  void learn(const Kernel& kernel) {
    known.push_back({formula_of(kernel.time_class).sizes(kernel.work), 0});
  }

  /// Ties go to the first.
  std::vector<Waiting>::iterator least_certain(bool is_cpu) {
    for (Waiting& one : waiting)
      one.uncertainty =
          residual_at(known, one.sizes, residuals_on(formula_of(one.kernel.time_class), is_cpu))
              .deviation;
    return std::ranges::max_element(waiting, {}, &Waiting::uncertainty);
  }
};

using ClassSweeps = std::map<TimeClass, ClassSweep>;

ClassSweeps begin_sweeps(const std::vector<MeasuredKernel>& measured,
                         const std::vector<Kernel>& candidates) {
  ClassSweeps sweeps;
  std::set<Kernel> known;
  for (const MeasuredKernel& row : measured)
    if (known.insert(row.kernel).second) sweeps[row.kernel.time_class].learn(row.kernel);
  for (const Kernel& kernel : candidates)
    if (known.insert(kernel).second)
      sweeps[kernel.time_class].waiting.push_back(
          {kernel, formula_of(kernel.time_class).sizes(kernel.work)});
  return sweeps;
}

/// Priority of a class: the measurements its fit still lacks (always more urgent), or the
/// uncertainty of its least certain kernel, in deviations of the process.
double need_of(TimeClass time_class, ClassSweep& one, bool is_cpu) {
  // On a CPU several operators share a class of few sizes.
  const double fewest = static_cast<double>(fewest_measurements(time_class)) * (is_cpu ? 3 : 1);
  const double known = static_cast<double>(one.known.size());
  if (known < fewest) return 2 + (fewest - known) / fewest;
  const ResidualKernel process = residuals_on(formula_of(time_class), is_cpu);
  return one.least_certain(is_cpu)->uncertainty / std::hypot(process.deviation, process.noise);
}

}  // namespace

void sweep(std::vector<MeasuredKernel>& measured, const std::vector<Kernel>& candidates,
           const KernelTimer& timer, const SweepEnd& end, bool is_cpu) {
  ClassSweeps sweeps = begin_sweeps(measured, candidates);
  std::map<TimeClass, double> needs;
  for (auto& [time_class, one] : sweeps)
    if (!one.waiting.empty()) needs[time_class] = need_of(time_class, one, is_cpu);
  while (!needs.empty() && !end(measured.size())) {
    const TimeClass next =
        std::ranges::max_element(needs, {}, [](const auto& need) { return need.second; })->first;
    ClassSweep& one = sweeps[next];
    const auto place = one.least_certain(is_cpu);
    const Kernel kernel = place->kernel;
    one.waiting.erase(place);
    if (const std::optional<double> us = timer(kernel)) {
      if (!std::isfinite(*us) || *us <= 0)
        throw Error(fmt::format("a measurement of {}", name(next)),
                    fmt::format("took {} us by the device's clock", *us),
                    "Measure again; what was measured before is kept.");
      measured.push_back({kernel, *us});
      one.learn(kernel);
    }
    if (one.waiting.empty())
      needs.erase(next);
    else
      needs[next] = need_of(next, one, is_cpu);
  }
}

}  // namespace symprof::profile
