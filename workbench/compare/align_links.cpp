#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <unordered_map>

#include "workbench/compare/links.h"

namespace symprof::workbench {
namespace {

/// The evidence for a pair, the strongest first. Rows of A are tried in order; whenever a level
/// makes a pair, the search restarts at the first level.
enum class LinkLevel {
  value_and_place,   ///< Equal values, one operator, and the same name or operands.
  name_and_place,    ///< One operator, name and operands: here values start to differ.
  only_place,        ///< One operator; no other candidate reads the same operands.
  value_among_many,  ///< Equal values, one operator, and a paired operand.
  only_value,        ///< Equal, unique values, one operator.
  place,             ///< One operator and the same operands; names and values differ.
  name,              ///< One operator, one name, and a common operand.
  part_of_place,     ///< The only one of its operator and type that reads a common operand.
  operand,           ///< One operator, read by paired nodes at the same position.
  folded,            ///< Equal values and name: a result on one side, a weight on the other.
};
constexpr LinkLevel link_levels[] = {LinkLevel::value_and_place,
                                     LinkLevel::name_and_place,
                                     LinkLevel::only_place,
                                     LinkLevel::value_among_many,
                                     LinkLevel::only_value,
                                     LinkLevel::place,
                                     LinkLevel::name,
                                     LinkLevel::part_of_place,
                                     LinkLevel::operand,
                                     LinkLevel::folded};

constexpr std::size_t most_tried = 256;

using TypeKey = std::tuple<RowKind, std::string, std::optional<RowShape>>;
TypeKey type_of(const Row& row) { return {row.kind, row.dtype, row.shape}; }

class LinkMatch {
 public:
  LinkMatch(std::span<const Row> a, std::span<const Row> b, Operators operators, Partners& partners)
      : a_(a),
        b_(b),
        operators_(operators),
        partners_(partners),
        readers_(readers_of(b)),
        readers_in_a_(readers_of(a)) {
    for (std::size_t j = 0; j < b.size(); ++j) {
      if (b[j].kind == RowKind::input || b[j].kind == RowKind::output) continue;
      by_name_[b[j].name].push_back(j);
      if (b[j].has_values) by_value_[type_of(b[j])].emplace_back(b[j].signature.sums[0], j);
    }
    for (auto& [type, rows] : by_value_) std::ranges::sort(rows);
    for (std::size_t i = 0; i < a.size(); ++i)
      if (a[i].has_values) ++twins_in_a_[type_of(a[i])];
  }

  void run() {
    for (std::size_t level = 0; level < std::size(link_levels);)
      level = run_level(link_levels[level]) && level > 0 ? 0 : level + 1;
  }

 private:
  /// The common properties of two rows.
  struct Common {
    bool near = false, op = false, name = false, dtype = false, shape = false;
    bool all_operands = false;
    bool is_open = false;  ///< Its unpaired operands have no other partners either.
    std::size_t operands = 0;
  };

  using Readers = std::vector<std::vector<std::size_t>>;

  static Readers readers_of(std::span<const Row> rows) {
    Readers readers(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i)
      for (const std::size_t operand : rows[i].operands)
        if (operand != no_row) readers[operand].push_back(i);
    return readers;
  }

  bool run_level(LinkLevel level) {
    bool has_changed = false;
    for (std::size_t i = 0; i < a_.size(); ++i) {
      if (partners_.of_a[i] != no_row || a_[i].kind == RowKind::input ||
          a_[i].kind == RowKind::output)
        continue;
      const std::size_t j = best_of(i, level);
      if (j == no_row) continue;
      partners_.join(i, j);
      has_changed = true;
    }
    return has_changed;
  }

  std::size_t best_of(std::size_t i, LinkLevel level) const {
    std::size_t best = no_row, passed = 0;
    std::tuple<int, double> best_rank{-1, 0};
    for (const std::size_t j : candidates(i, level)) {
      const bool is_one_kind = (a_[i].kind == b_[j].kind) != (level == LinkLevel::folded);
      if (partners_.of_b[j] != no_row || !is_one_kind || a_[i].output != b_[j].output) continue;
      const Common common = common_of(i, j);
      if (!passes(common, level)) continue;
      ++passed;
      const std::tuple<int, double> rank{
          (common.name ? 4 : 0) + (common.all_operands ? 4 : 0) +
              static_cast<int>(std::min<std::size_t>(common.operands, 3)),
          -std::abs(place(i, a_.size()) - place(j, b_.size()))};
      if (rank > best_rank) std::tie(best, best_rank) = std::pair(j, rank);
    }
    if (best == no_row) return best;
    if (level == LinkLevel::only_value && (passed > 1 || near_rows_of_a(i) > 1)) return no_row;
    const bool is_by_place = level == LinkLevel::only_place || level == LinkLevel::part_of_place;
    if (is_by_place && (passed > 1 || rivals_in_a(i) > 0)) return no_row;
    return best;
  }

  /// Counts operands that have a partner, or are omitted.
  static std::size_t count_paired(const std::vector<std::size_t>& operands,
                                  const std::vector<std::size_t>& partners) {
    return static_cast<std::size_t>(std::ranges::count_if(operands, [&](std::size_t operand) {
      return operand == no_row || partners[operand] != no_row;
    }));
  }

  /// Other unpaired rows with the operator, type and operands of `i`.
  std::size_t rivals_in_a(std::size_t i) const {
    std::size_t found = 0;
    for (const std::size_t operand : a_[i].operands) {
      if (operand == no_row || partners_.of_a[operand] == no_row) continue;
      for (const std::size_t k : readers_in_a_[operand])
        if (k != i && partners_.of_a[k] == no_row && a_[k].op_type == a_[i].op_type &&
            a_[k].output == a_[i].output && a_[k].dtype == a_[i].dtype)
          ++found;
    }
    return found;
  }

  static double place(std::size_t row, std::size_t rows) {
    return static_cast<double>(row) / static_cast<double>(rows);
  }

  Common common_of(std::size_t i, std::size_t j) const {
    const Row &x = a_[i], &y = b_[j];
    Common common;
    common.dtype = x.dtype == y.dtype;
    common.near =
        common.dtype && x.shape == y.shape && x.has_values && y.has_values && are_near(x, y);
    common.op = operators_ == Operators::other_words || x.op_type == y.op_type;
    common.name = !x.name.empty() && x.name == y.name;
    common.operands = paired_operands(x, y, partners_);
    common.all_operands = !x.operands.empty() && x.operands.size() == y.operands.size() &&
                          common.operands == x.operands.size();
    common.is_open = x.operands.size() == y.operands.size() &&
                     std::max(count_paired(x.operands, partners_.of_a),
                              count_paired(y.operands, partners_.of_b)) == common.operands;
    return common;
  }

  bool passes(const Common& common, LinkLevel level) const {
    if (!common.op && level != LinkLevel::folded) return false;
    const bool knows_operators = operators_ == Operators::same_words;
    switch (level) {
      case LinkLevel::value_and_place:
        return common.near && (common.name || (common.all_operands && knows_operators));
      case LinkLevel::name_and_place:
        return common.name && common.all_operands;
      case LinkLevel::only_place:
        return common.all_operands && common.dtype && knows_operators;
      case LinkLevel::value_among_many:
        return common.near && common.operands > 0;
      case LinkLevel::only_value:
        return common.near;
      case LinkLevel::place:
        return common.all_operands && common.dtype && knows_operators;
      case LinkLevel::name:
        return common.name && common.operands > 0;
      case LinkLevel::part_of_place:
        return common.operands > 0 && common.is_open && common.dtype && common.shape &&
               knows_operators;
      case LinkLevel::operand:
        return common.dtype && knows_operators;
      case LinkLevel::folded:
        return common.near && common.name;
    }
    return false;
  }

  /// Candidate rows of B: those with the value or the name, or readers of a partner.
  std::vector<std::size_t> candidates(std::size_t i, LinkLevel level) const {
    switch (level) {
      case LinkLevel::value_and_place:
      case LinkLevel::value_among_many:
      case LinkLevel::only_value:
        return of_value(i);
      case LinkLevel::only_place:
      case LinkLevel::place:
      case LinkLevel::part_of_place:
        return readers_of_partners(i);
      case LinkLevel::operand:
        return operands_of_partners(i);
      default: {
        const auto found = by_name_.find(a_[i].name);
        return found == by_name_.end() ? std::vector<std::size_t>() : found->second;
      }
    }
  }

  std::vector<std::size_t> of_value(std::size_t i) const {
    std::vector<std::size_t> found;
    const auto rows = by_value_.find(type_of(a_[i]));
    if (!a_[i].has_values || rows == by_value_.end()) return found;
    const double sum = a_[i].signature.sums[0],
                 slack = 2e-2 * std::max({1.0, std::abs(sum), std::abs(a_[i].smallest),
                                          std::abs(a_[i].largest)});
    auto at = std::isfinite(sum)
                  ? std::ranges::lower_bound(rows->second, std::pair(sum - slack, std::size_t{0}))
                  : rows->second.begin();
    for (; at != rows->second.end() && found.size() < most_tried; ++at) {
      if (std::isfinite(sum) && at->first > sum + slack) break;
      if (partners_.of_b[at->second] == no_row) found.push_back(at->second);
    }
    return found;
  }

  std::size_t near_rows_of_a(std::size_t i) const {
    if (twins_in_a_.at(type_of(a_[i])) == 1) return 1;
    std::size_t found = 0;
    for (std::size_t k = 0; k < a_.size() && found < 2; ++k)
      if (partners_.of_a[k] == no_row && type_of(a_[k]) == type_of(a_[i]) && are_near(a_[k], a_[i]))
        ++found;
    return found;
  }

  /// For partners of the readers of `i`: their operand at the position of `i`.
  std::vector<std::size_t> operands_of_partners(std::size_t i) const {
    std::vector<std::size_t> found;
    for (const std::size_t reader : readers_in_a_[i]) {
      const std::size_t theirs = partners_.of_a[reader];
      if (theirs == no_row || a_[reader].operands.size() != b_[theirs].operands.size()) continue;
      for (std::size_t k = 0; k < a_[reader].operands.size(); ++k)
        if (const std::size_t j = b_[theirs].operands[k];
            a_[reader].operands[k] == i && j != no_row)
          found.push_back(j);
    }
    return found;
  }

  std::vector<std::size_t> readers_of_partners(std::size_t i) const {
    std::vector<std::size_t> found;
    for (const std::size_t operand : a_[i].operands) {
      if (operand == no_row || partners_.of_a[operand] == no_row) continue;
      const auto& readers = readers_[partners_.of_a[operand]];
      if (readers.size() > most_tried) continue;
      found.insert(found.end(), readers.begin(), readers.end());
    }
    std::ranges::sort(found);
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
  }

  std::span<const Row> a_, b_;
  Operators operators_;
  Partners& partners_;
  std::unordered_map<std::string, std::vector<std::size_t>> by_name_;
  std::map<TypeKey, std::vector<std::pair<double, std::size_t>>> by_value_;
  std::map<TypeKey, std::size_t> twins_in_a_;
  Readers readers_, readers_in_a_;
};

}  // namespace

bool is_leaf(const Row& row) {
  return row.kind == RowKind::initializer || row.kind == RowKind::sparse_initializer ||
         row.op_type == "Constant";
}

bool are_near(const Row& a, const Row& b) {
  constexpr double slack = 1e-2;
  const double largest = std::max(
      {std::abs(a.smallest), std::abs(a.largest), std::abs(b.smallest), std::abs(b.largest)});
  const double scale = largest == 0 ? 1 : largest;
  const auto near = [&](double x, double y) {
    return x == y || (std::isnan(x) && std::isnan(y)) ||
           std::abs(x - y) <= slack * std::max({scale, std::abs(x), std::abs(y)});
  };
  for (std::size_t k = 0; k < a.signature.sums.size(); ++k)
    if (!near(a.signature.sums[k], b.signature.sums[k])) return false;
  return near(a.smallest, b.smallest) && near(a.largest, b.largest);
}

std::size_t paired_operands(const Row& a, const Row& b, const Partners& partners) {
  std::size_t found = 0;
  std::vector<std::size_t> left = b.operands;
  for (const std::size_t operand : a.operands) {
    const std::size_t wanted = operand == no_row ? no_row : partners.of_a[operand];
    if (operand != no_row && wanted == no_row) continue;
    const auto at = std::ranges::find(left, wanted);
    if (at == left.end()) continue;
    left.erase(at);
    ++found;
  }
  return found;
}

bool know_operands(std::span<const Row> a, std::span<const Row> b) {
  const auto knows = [](const Row& row) { return !row.operands.empty(); };
  return std::ranges::any_of(a, knows) && std::ranges::any_of(b, knows);
}

void pair_links(std::span<const Row> a, std::span<const Row> b, Operators operators,
                Partners& partners) {
  LinkMatch(a, b, operators, partners).run();
}

}  // namespace symprof::workbench
