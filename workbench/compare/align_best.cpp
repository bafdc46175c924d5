#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include "workbench/compare/align.h"
#include "workbench/compare/band.h"
#include "workbench/compare/links.h"
#include "workbench/compare/pair_cost.h"

namespace symprof::workbench {
namespace {

constexpr std::size_t nothing = no_row;
constexpr std::size_t most_candidates = std::size_t{1} << 16;

/// Sections of a table that keep their order: weights, inputs, computed values, outputs.
int section_of(RowKind kind) {
  switch (kind) {
    case RowKind::initializer:
    case RowKind::sparse_initializer:
      return 0;
    case RowKind::input:
      return 1;
    case RowKind::node:
    case RowKind::result:
      return 2;
    case RowKind::output:
      return 3;
  }
  return 2;
}

bool is_boundary(const Row& row) {
  return row.kind == RowKind::input || row.kind == RowKind::output;
}

/// Builds the pairs step by step.
class BestMatch {
 public:
  BestMatch(std::span<const Row> a, std::span<const Row> b, Operators operators)
      : a_(a), b_(b), operators_(operators), knows_operands_(know_operands(a, b)), costs_(a, b) {
    partners_.of_a.assign(a.size(), nothing);
    partners_.of_b.assign(b.size(), nothing);
  }

  Alignment run() {
    pair_boundary();
    add_links();
    pair_equal(true);  // Unique values, or the same operator and name.
    add_links();
    pair_equal(false);  // The rest, by neighbors paired meanwhile.
    add_links();
    sure_ = of_a_;
    if (knows_operands_) {
      needs_near_ = false;  // Equal letters of differing values: better evidence than position.
      pair_equal(false);
    }
    fill_gaps(false);
    fill_gaps(true);
    return lines();
  }

 private:
  struct Candidate {
    int score = 0;
    double apart = 0;  ///< The distance of relative positions in the tables.
    std::size_t a = 0, b = 0;
  };
  using Key = std::tuple<RowKind, std::string, std::optional<RowShape>, std::array<char, 4>>;
  struct Group {
    std::vector<std::size_t> a, b;
  };

  void add_links() {
    if (knows_operands_) pair_links(a_, b_, operators_, partners_);
  }

  void join(std::size_t a, std::size_t b) { partners_.join(a, b); }

  /// Pairs inputs and outputs by name, then by equal type in order, then by equal dtype in order.
  void pair_boundary() {
    const auto pair_where = [&](const auto& fits) {
      for (std::size_t i = 0; i < a_.size(); ++i) {
        if (of_a_[i] != nothing || !is_boundary(a_[i])) continue;
        for (std::size_t j = 0; j < b_.size(); ++j)
          if (of_b_[j] == nothing && a_[i].kind == b_[j].kind && fits(a_[i], b_[j])) {
            join(i, j);
            break;
          }
      }
    };
    pair_where([](const Row& a, const Row& b) { return a.name == b.name; });
    pair_where([](const Row& a, const Row& b) { return a.dtype == b.dtype && a.shape == b.shape; });
    pair_where([](const Row& a, const Row& b) { return a.dtype == b.dtype; });
  }

  /// False for weights that would match by letters alone.
  bool may_be_equal(const Row& row) const {
    return row.has_values && (needs_near_ || !knows_operands_ || !is_leaf(row));
  }

  std::map<Key, Group> groups() const {
    std::map<Key, Group> found;
    const auto key = [](const Row& row) {
      return Key{row.kind, row.dtype, row.shape, row.signature.letters};
    };
    for (std::size_t i = 0; i < a_.size(); ++i)
      if (of_a_[i] == nothing && may_be_equal(a_[i])) found[key(a_[i])].a.push_back(i);
    for (std::size_t j = 0; j < b_.size(); ++j)
      if (of_b_[j] == nothing && may_be_equal(b_[j])) found[key(b_[j])].b.push_back(j);
    return found;
  }

  void pair_equal(bool surest_only) {
    for (const auto& [key, group] : groups()) {
      if (group.a.empty() || group.b.empty()) continue;
      const bool is_single = group.a.size() == 1 && group.b.size() == 1;
      if (group.a.size() > most_candidates / group.b.size()) {
        if (!knows_operands_) pair_in_order(group);
        continue;
      }
      for (const Candidate& candidate : candidates(group)) {
        if (of_a_[candidate.a] != nothing || of_b_[candidate.b] != nothing) continue;
        if (!surest_only || is_single || candidate.score >= surest) join(candidate.a, candidate.b);
      }
    }
  }

  /// Too many candidates to score: pairs equal values in order.
  void pair_in_order(const Group& group) {
    for (std::size_t k = 0; k < std::min(group.a.size(), group.b.size()); ++k)
      join(group.a[k], group.b[k]);
  }

  static constexpr int near_score = 8, op_score = 4, name_score = 2, neighbor_score = 3;
  static constexpr int surest = near_score + op_score + name_score;

  std::vector<Candidate> candidates(const Group& group) const {
    std::vector<Candidate> found;
    found.reserve(group.a.size() * group.b.size());
    for (const std::size_t i : group.a)
      for (const std::size_t j : group.b)
        if (!needs_near_ || are_near(a_[i], b_[j]))
          found.push_back({.score = score(i, j),
                           .apart = std::abs(place(i, a_.size()) - place(j, b_.size())),
                           .a = i,
                           .b = j});
    std::ranges::sort(found, [](const Candidate& x, const Candidate& y) {
      return std::tuple(-x.score, x.apart, x.a, x.b) < std::tuple(-y.score, y.apart, y.a, y.b);
    });
    return found;
  }

  static double place(std::size_t row, std::size_t rows) {
    return static_cast<double>(row) / static_cast<double>(rows);
  }

  int score(std::size_t i, std::size_t j) const {
    int total = are_near(a_[i], b_[j]) ? near_score : 0;
    if (a_[i].op_type == b_[j].op_type) total += op_score;
    if (!a_[i].name.empty() && a_[i].name == b_[j].name) total += name_score;
    total += static_cast<int>(std::min<std::size_t>(2, paired_operands(a_[i], b_[j], partners_))) *
             neighbor_score;
    if (i > 0 && j > 0 && of_a_[i - 1] == j - 1) total += neighbor_score;
    if (i + 1 < a_.size() && of_a_[i + 1] == j + 1) total += neighbor_score;
    return total;
  }

  /// Aligns unpaired rows after (or before) each pair by edit distance, up to the next pair.
  void fill_gaps(bool before) {
    if (!before && !a_.empty() && !b_.empty()) fill_gap(0, 0);
    const std::vector<std::size_t> pairs = of_a_;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      if (pairs[i] == nothing) continue;
      if (!before) {
        fill_gap(i + 1, pairs[i] + 1);
        continue;
      }
      std::size_t from_a = i, from_b = pairs[i];
      while (from_a > 0 && of_a_[from_a - 1] == nothing) --from_a;
      while (from_b > 0 && of_b_[from_b - 1] == nothing) --from_b;
      fill_gap(from_a, from_b);
    }
  }

  void fill_gap(std::size_t from_a, std::size_t from_b) {
    std::size_t end_a = from_a, end_b = from_b;
    while (end_a < of_a_.size() && of_a_[end_a] == nothing) ++end_a;
    while (end_b < of_b_.size() && of_b_[end_b] == nothing) ++end_b;
    if (end_a == from_a || end_b == from_b) return;
    const EditPath path = shortest_edit(
        end_a - from_a, end_b - from_b, EditStart::any, [&](std::size_t i, std::size_t j) {
          return may_pair(a_[from_a + i], b_[from_b + j]) ? costs_(from_a + i, from_b + j)
                                                          : std::numeric_limits<double>::infinity();
        });
    for (const EditStep& step : path.steps)
      if (step.a && step.b) join(from_a + *step.a, from_b + *step.b);
  }

  /// True if rows with different values may be paired: the same operator made them, or they look
  /// alike. If operands are known, leaves are never paired by guess.
  bool may_pair(const Row& a, const Row& b) const {
    if (a.kind != b.kind) return false;
    if (!knows_operands_) return a.op_type == b.op_type || a.shape == b.shape;
    if (is_leaf(a) || is_leaf(b)) return false;
    return operators_ == Operators::same_words ? a.op_type == b.op_type
                                               : a.dtype == b.dtype && a.shape == b.shape;
  }

  Alignment lines() const {
    Alignment found;
    found.pairs.reserve(a_.size() + b_.size());
    for (int section = 0; section < 4; ++section) {
      add_alone(0, section, found);
      for (std::size_t i = 0; i < a_.size(); ++i) {
        if (section_of(a_[i].kind) != section) continue;
        if (of_a_[i] == nothing) {
          found.pairs.push_back({.a = i, .b = {}, .absolute = {}, .relative = {}});
          continue;
        }
        const std::size_t j = of_a_[i];
        found.pairs.push_back({.a = i,
                               .b = j,
                               .cost = costs_(i, j),
                               .absolute = {},
                               .relative = {},
                               .is_guess = sure_[i] == nothing});
        add_alone(j + 1, section, found);
      }
    }
    for (const RowPair& pair : found.pairs) found.distance += pair.cost;
    return found;
  }

  /// Adds the rows only in B from row `begin` of the section on. 0: from the section's first row.
  void add_alone(std::size_t begin, int section, Alignment& found) const {
    if (begin == 0)
      while (begin < b_.size() && section_of(b_[begin].kind) != section) ++begin;
    for (; begin < b_.size() && of_b_[begin] == nothing && section_of(b_[begin].kind) == section;
         ++begin)
      found.pairs.push_back({.a = {}, .b = begin, .absolute = {}, .relative = {}});
  }

  std::span<const Row> a_, b_;
  Operators operators_;
  bool knows_operands_ = false;
  bool needs_near_ = knows_operands_;  ///< Equal letters do not suffice if operands are known.
  RowCosts costs_;
  Partners partners_;
  std::vector<std::size_t>&of_a_ = partners_.of_a, &of_b_ = partners_.of_b;
  std::vector<std::size_t> sure_;  ///< By row of A: its partner before gaps were filled.
};

}  // namespace

Alignment align_best(std::span<const Row> a, std::span<const Row> b, Operators operators) {
  return BestMatch(a, b, operators).run();
}

}  // namespace symprof::workbench
