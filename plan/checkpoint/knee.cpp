#include "plan/checkpoint/knee.h"

namespace symprof::plan {

std::size_t knee_of(const std::vector<PlanAnswer>& curve) {
  std::vector<std::size_t> there;
  for (std::size_t i = 0; i < curve.size(); ++i)
    if (curve[i].best) there.push_back(i);
  if (there.size() < 3) return curve.size();
  const auto memory = [&](std::size_t i) {
    return static_cast<double>(curve[i].best->peaks.reserved_bytes);
  };
  const auto time = [&](std::size_t i) { return curve[i].best->cost_us; };
  const double width = memory(there.back()) - memory(there.front());
  const double height = time(there.front()) - time(there.back());
  if (width <= 0 || height <= 0) return curve.size();
  std::size_t knee = there.front();
  double farthest = 0;
  for (const std::size_t i : there) {
    const double below =
        (memory(there.back()) - memory(i)) / width - (time(i) - time(there.back())) / height;
    if (below > farthest) farthest = below, knee = i;
  }
  return farthest > 0 ? knee : curve.size();
}

}  // namespace symprof::plan
