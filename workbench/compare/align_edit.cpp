#include "workbench/compare/align.h"
#include "workbench/compare/band.h"
#include "workbench/compare/pair_cost.h"

namespace symprof::workbench {

char RowPair::mark() const {
  if (!b) return '-';
  if (!a) return '+';
  return cost == 0 ? '=' : '~';
}

Alignment align_edit(std::span<const Row> a, std::span<const Row> b) {
  const RowCosts costs(a, b);
  const EditPath path = shortest_edit(a.size(), b.size(), EditStart::pair,
                                      [&](std::size_t i, std::size_t j) { return costs(i, j); });
  Alignment found{.pairs = {}, .distance = path.distance};
  found.pairs.reserve(path.steps.size());
  for (const EditStep& step : path.steps)
    found.pairs.push_back(
        {.a = step.a, .b = step.b, .cost = step.cost, .absolute = {}, .relative = {}});
  return found;
}

}  // namespace symprof::workbench
