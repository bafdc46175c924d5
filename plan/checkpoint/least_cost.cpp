// The lower bound of a selector's costs: a bound of all plans, if the windows are those of
// sure_costs.h.
#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>

#include "plan/checkpoint/selection.h"

namespace symprof::plan {
namespace {

/// Cells of freed bytes for a bound, and the relative rounding error of sums of costs.
constexpr std::size_t bound_cells = 4000;
constexpr double rounding = 1e-9;
/// Fractions of calls free fractions of bytes, whose sums are rounded.
constexpr double half_a_byte = 0.5;

/// A linear piece of a region's bound: bytes at a constant price.
struct Piece {
  double us_per_byte = 0;
  std::size_t region = 0, point = 0;
  bool operator>(const Piece& other) const { return us_per_byte > other.us_per_byte; }
};

double value_at(const std::vector<BoundPoint>& bound, double freed_bytes) {
  for (std::size_t i = 1; i < bound.size(); ++i)
    if (freed_bytes <= bound[i].freed_bytes) {
      const double width = bound[i].freed_bytes - bound[i - 1].freed_bytes;
      const double share = width > 0 ? (freed_bytes - bound[i - 1].freed_bytes) / width : 0;
      return bound[i - 1].cost_us + share * (bound[i].cost_us - bound[i - 1].cost_us);
    }
  return bound.back().cost_us;
}

}  // namespace

/// The solution of the relaxation of least cost: freed bytes by region. As the constraints are
/// nested and the bounds convex, the greedy choice is optimal: each constraint in turn takes the
/// cheapest bytes of its regions.
std::optional<std::vector<double>> Selector::relaxed(const std::vector<std::int64_t>& needs) const {
  if (needs.front() > 0) return std::nullopt;
  std::vector<double> freed(costs_.regions.size(), 0);
  std::priority_queue<Piece, std::vector<Piece>, std::greater<>> cheapest;
  const auto offer = [&](std::size_t region, std::size_t point) {
    const std::vector<BoundPoint>& bound = frontier(region).bound;
    if (point >= bound.size()) return;
    const double bytes = bound[point].freed_bytes - bound[point - 1].freed_bytes;
    cheapest.push({(bound[point].cost_us - bound[point - 1].cost_us) / bytes, region, point});
  };
  double sum = 0;
  for (std::size_t i = 0; i < freed.size(); ++i) {
    offer(i, 1);
    while (sum < static_cast<double>(needs[i + 1]) - half_a_byte) {
      if (cheapest.empty()) return std::nullopt;
      const Piece piece = cheapest.top();
      const double end = frontier(piece.region).bound[piece.point].freed_bytes;
      const double wanted = static_cast<double>(needs[i + 1]) - sum;
      const double taken = std::min(end - freed[piece.region], wanted);
      sum += taken;
      freed[piece.region] += taken;
      if (taken < wanted || freed[piece.region] >= end) {
        cheapest.pop();
        freed[piece.region] = end;
        offer(piece.region, piece.point + 1);
      }
    }
  }
  return freed;
}

/// Dynamic programming over regions: the least cost for each cell of freed bytes. Freed bytes are
/// rounded up to cells, so that no choice is excluded.
std::optional<double> Selector::least_of_whole_calls(
    const std::vector<std::int64_t>& needed) const {
  constexpr double impossible = std::numeric_limits<double>::infinity();
  const auto most = static_cast<double>(*std::ranges::max_element(needed));
  const double width = std::max(std::ceil(most / static_cast<double>(bound_cells)), 1.0);
  const auto cells_of = [&](double bytes) {
    return static_cast<std::size_t>(std::ceil(std::min(std::max(bytes, 0.0), most) / width));
  };
  const std::size_t last = cells_of(most);
  std::vector<double> costs(last + 1, impossible);
  costs[0] = 0;
  for (std::size_t i = 0; i < costs_.regions.size(); ++i) {
    std::vector<double> after(last + 1, impossible);
    const auto needed_now = static_cast<double>(needed[i + 1]);
    for (const BoundPoint& choice : frontier(i).least) {
      const std::size_t freed = cells_of(choice.freed_bytes);
      const bool is_plain = &choice == &frontier(i).least.front();
      const auto freed_last =
          static_cast<double>(is_plain ? 0 : costs_.regions[i].freed_last_bytes);
      const std::size_t least = cells_of(needed_now - freed_last);
      for (std::size_t cell = least > freed ? least - freed : 0; cell <= last; ++cell) {
        double& cost = after[std::min(cell + freed, last)];
        cost = std::min(cost, costs[cell] + choice.cost_us);
      }
    }
    costs = std::move(after);
  }
  const double found = *std::ranges::min_element(costs);
  return found < impossible ? std::optional(found) : std::nullopt;
}

std::optional<double> Selector::least_cost_us(std::int64_t budget_bytes) const {
  if (least_window().bytes > costs_.usable(budget_bytes)) return std::nullopt;
  const std::vector<std::int64_t> needed = needs(budget_bytes);
  std::vector<std::int64_t> needed_of_parts = needed;
  for (std::size_t i = 0; i < costs_.regions.size(); ++i)
    needed_of_parts[i + 1] -= costs_.regions[i].freed_last_bytes;
  double least = 0;
  if (const std::optional<std::vector<double>> freed = relaxed(needed_of_parts))
    for (std::size_t i = 0; i < freed->size(); ++i)
      least += value_at(frontier(i).bound, (*freed)[i]);
  least = std::max(least, least_of_whole_calls(needed).value_or(0)) * (1 - rounding);
  return std::max(least - costs_.free_us, 0.0);
}

}  // namespace symprof::plan
