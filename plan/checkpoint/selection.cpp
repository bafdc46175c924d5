#include "plan/checkpoint/selection.h"

#include <algorithm>

namespace symprof::plan {
namespace {

/// The most partial sums of bytes and costs carried from region to region; more are thinned.
constexpr std::size_t most_partial = 2000;
constexpr double tolerance_us = 1e-6;
/// The most choices of all regions together that are enumerated.
constexpr std::size_t most_choices_listed = 20'000;

/// Patterns chosen for the first regions.
struct Partial {
  std::int64_t freed_bytes = 0;
  double cost_us = 0;
  int before = -1, pattern = -1;
};

/// Drops dominated elements of `all`: by descending freed bytes, costs decrease.
void keep_best(std::vector<Partial>& all) {
  std::ranges::sort(all, [](const Partial& a, const Partial& b) {
    return a.freed_bytes != b.freed_bytes ? a.freed_bytes > b.freed_bytes : a.cost_us < b.cost_us;
  });
  std::vector<Partial> best;
  for (const Partial& partial : all)
    if (best.empty() || partial.cost_us < best.back().cost_us - tolerance_us)
      best.push_back(partial);
  all.clear();
  const std::size_t count = std::min(best.size(), most_partial);
  all.reserve(count);
  for (std::size_t i = 0; i < count; ++i)
    all.push_back(best[count == 1 ? 0 : i * (best.size() - 1) / (count - 1)]);
}

/// Costs in cells of freed bytes, one sum for each cell, where there are too many sums to sort.
class Cells {
 public:
  explicit Cells(std::int64_t most_bytes)
      : width_(std::max<std::int64_t>(most_bytes / static_cast<std::int64_t>(most_partial), 1)) {
    cells_.resize(most_partial + 2);
  }

  void add(const Partial& partial) {
    const auto at = static_cast<std::size_t>(partial.freed_bytes / width_);
    Partial& cell = cells_[std::min(at, cells_.size() - 1)];
    if (cell.pattern < 0 || partial.cost_us < cell.cost_us) cell = partial;
  }

  std::vector<Partial> take() {
    std::erase_if(cells_, [](const Partial& cell) { return cell.pattern < 0; });
    return std::move(cells_);
  }

 private:
  std::int64_t width_;
  std::vector<Partial> cells_;
};

}  // namespace

Selector::Selector(StepCosts costs) : costs_(std::move(costs)) {
  std::vector<std::size_t> first;  // By type: one region of it.
  for (std::size_t i = 0; i < costs_.regions.size(); ++i) {
    const auto same = std::ranges::find_if(
        first, [&](std::size_t j) { return costs_.regions[j].is_like(costs_.regions[i]); });
    of_region_.push_back(static_cast<int>(same - first.begin()));
    if (same != first.end()) continue;
    first.push_back(i);
    frontiers_.push_back(frontier_of(costs_.regions[i]));
  }
}

std::vector<std::int64_t> Selector::needs(std::int64_t budget_bytes) const {
  std::vector<std::int64_t> needs(costs_.regions.size() + 1, 0);
  for (const Window& window : costs_.windows)
    needs[window.regions] =
        std::max(needs[window.regions], window.bytes - costs_.usable(budget_bytes));
  for (std::size_t i = 1; i < needs.size(); ++i) needs[i] = std::max(needs[i], std::int64_t{0});
  return needs;
}

std::vector<std::int64_t> Selector::most_freed() const {
  std::vector<std::int64_t> most{0};
  most.reserve(costs_.regions.size() + 1);
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < costs_.regions.size(); ++i) {
    sum += frontier(i).patterns.back().freed_bytes;
    most.push_back(sum + costs_.regions[i].freed_last_bytes);
  }
  return most;
}

Window Selector::least_window() const {
  const std::vector<std::int64_t> most = most_freed();
  Window least;
  for (Window window : costs_.windows) {
    window.bytes -= most[window.regions];
    if (least.call == none || window.bytes > least.bytes) least = window;
  }
  return least;
}

std::int64_t Selector::highest_window_bytes() const {
  std::int64_t highest = 0;
  for (const Window& window : costs_.windows)
    if (window.regions > 0) highest = std::max(highest, window.bytes);
  return highest;
}

/// The patterns that free at least `freed` bytes of each region.
Selection Selector::rounded_up(const std::vector<double>& freed) const {
  Selection selection;
  for (std::size_t i = 0; i < freed.size(); ++i) {
    const std::vector<Pattern>& patterns = frontier(i).patterns;
    std::size_t chosen = patterns.size() - 1;
    for (std::size_t p = patterns.size(); p-- > 0;)
      if (static_cast<double>(patterns[p].freed_bytes) >= freed[i] - 1 &&
          patterns[p].cost_us <= patterns[chosen].cost_us)
        chosen = p;
    selection.patterns.push_back(static_cast<int>(chosen));
    selection.cost_us += patterns[chosen].cost_us;
  }
  return selection;
}

Selection Selector::select(std::int64_t budget_bytes) const {
  std::vector<std::int64_t> needed = needs(budget_bytes);
  const std::vector<std::int64_t> most = most_freed();
  for (std::size_t i = 0; i < needed.size(); ++i) needed[i] = std::min(needed[i], most[i]);
  return select(needed);
}

Selection Selector::everything() const {
  Selection all;
  for (std::size_t i = 0; i < costs_.regions.size(); ++i) {
    all.patterns.push_back(static_cast<int>(frontier(i).patterns.size()) - 1);
    all.cost_us += frontier(i).patterns.back().cost_us;
  }
  return all;
}

/// Dynamic programming over regions: carries all sums of freed bytes and costs that may still be
/// optimal.
Selection Selector::select(const std::vector<std::int64_t>& needed) const {
  Selection known = everything();
  if (const std::optional<std::vector<double>> freed = relaxed(needed)) known = rounded_up(*freed);
  const double most_cost = known.cost_us + tolerance_us;
  const std::int64_t most = *std::ranges::max_element(needed);
  std::vector<std::vector<Partial>> partials{{Partial{}}};
  for (std::size_t i = 0; i < costs_.regions.size(); ++i) {
    const std::vector<Partial>& before = partials.back();
    const std::vector<Pattern>& patterns = frontier(i).patterns;
    const bool is_many = before.size() * patterns.size() > 40 * most_partial;
    Cells cells(most);
    std::vector<Partial> after;
    for (std::size_t b = 0; b < before.size(); ++b)
      for (std::size_t p = 0; p < patterns.size(); ++p) {
        const Partial next{std::min(before[b].freed_bytes + patterns[p].freed_bytes, most),
                           before[b].cost_us + patterns[p].cost_us, static_cast<int>(b),
                           static_cast<int>(p)};
        const std::int64_t last = patterns[p].runs_again ? costs_.regions[i].freed_last_bytes : 0;
        if (next.freed_bytes + last < needed[i + 1] || next.cost_us > most_cost) continue;
        if (is_many)
          cells.add(next);
        else
          after.push_back(next);
      }
    if (is_many) after = cells.take();
    keep_best(after);
    if (after.empty()) return known;
    partials.push_back(std::move(after));
  }
  const auto best = std::ranges::min_element(partials.back(), {}, &Partial::cost_us);
  if (best->cost_us > known.cost_us) return known;
  Selection selection{.patterns = std::vector<int>(costs_.regions.size())};
  const Partial* at = &*best;
  for (std::size_t i = costs_.regions.size(); i-- > 0;) {
    selection.patterns[i] = at->pattern;
    selection.cost_us += frontier(i).patterns[static_cast<std::size_t>(at->pattern)].cost_us;
    at = &partials[i][static_cast<std::size_t>(at->before)];
  }
  return selection;
}

CheckpointPlan Selector::plan_of(const Selection& selection) const {
  CheckpointPlan plan;
  for (std::size_t i = 0; i < selection.patterns.size(); ++i) {
    const RegionCosts& region = costs_.regions[i];
    const Pattern& pattern = frontier(i).patterns[static_cast<std::size_t>(selection.patterns[i])];
    if (pattern.is_on_host) plan.offloaded.push_back(region.module);
    if (pattern.runs_again) plan.regions.push_back(region.keeping(pattern.kept));
  }
  return plan;
}

bool Selector::is_within(const Selection& selection, std::int64_t budget_bytes) const {
  const std::vector<std::int64_t> needed = needs(budget_bytes);
  std::int64_t freed = 0;
  for (std::size_t i = 0; i < selection.patterns.size(); ++i) {
    const Pattern& pattern = frontier(i).patterns[static_cast<std::size_t>(selection.patterns[i])];
    freed += pattern.freed_bytes;
    const std::int64_t last = pattern.runs_again ? costs_.regions[i].freed_last_bytes : 0;
    if (freed + last < needed[i + 1]) return false;
  }
  return needed[0] <= 0;
}

std::vector<Selection> Selector::choices_within(std::int64_t budget_bytes) const {
  std::size_t count = 1;
  for (std::size_t i = 0; i < costs_.regions.size(); ++i)
    if ((count *= frontier(i).patterns.size()) > most_choices_listed) return {};
  std::vector<Selection> found;
  for (std::size_t number = 0; number < count; ++number) {
    Selection choice;
    std::size_t left = number;
    for (std::size_t i = 0; i < costs_.regions.size(); ++i) {
      const std::vector<Pattern>& patterns = frontier(i).patterns;
      choice.patterns.push_back(static_cast<int>(left % patterns.size()));
      choice.cost_us += patterns[left % patterns.size()].cost_us;
      left /= patterns.size();
    }
    if (is_within(choice, budget_bytes)) found.push_back(std::move(choice));
  }
  std::ranges::stable_sort(found, {}, &Selection::cost_us);
  return found;
}

}  // namespace symprof::plan
