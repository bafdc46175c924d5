// Linear programs with few rows, solved repeatedly with more rows and other bounds: the dual
// simplex method with bounded variables, on a full tableau (Lemke, Naval Research Logistics
// Quarterly 1, 1954; Wagner, ibid. 5, 1958).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace symprof::plan {

/// A constraint: a linear combination of variables is at most `most`.
struct LinearRow {
  std::vector<std::pair<int, double>> terms;
  double most = 0;
};

class DualSimplex {
 public:
  /// The objective to minimize, and bounds of each variable. All bounds are finite.
  DualSimplex(std::vector<double> costs, std::vector<double> lower, std::vector<double> upper);

  void add(std::shared_ptr<const LinearRow> row);
  void set_bounds(int variable, double lower, double upper);

  enum class Outcome : std::uint8_t { least, impossible, stopped };
  /// `work` is decremented by the tableau cells changed; the solver stops when it is used up.
  Outcome solve(std::ptrdiff_t& work);

  std::vector<double> values() const;
  /// A lower bound of the optimum, computed from the rows and their dual prices alone, and so free
  /// of the tableau's rounding.
  double bound() const;
  std::size_t rows() const { return rows_.size(); }

 private:
  static constexpr std::size_t no_row = static_cast<std::size_t>(-1);

  double lower(int variable) const;
  double upper(int variable) const;
  double value_of_column(std::size_t column) const;
  double& cell(std::size_t row, std::size_t column) { return cells_[row * columns_ + column]; }
  double cell(std::size_t row, std::size_t column) const { return cells_[row * columns_ + column]; }
  void move(std::size_t column, double change);
  std::size_t worst_row() const;
  std::size_t entering_column(std::size_t row, bool rises) const;
  bool is_proof(std::size_t row, bool rises) const;
  /// Returns the number of tableau cells changed.
  std::ptrdiff_t pivot(std::size_t row, std::size_t column, bool to_upper);
  /// By variable: its cost (if `with_costs`) plus the contribution of the rows at these dual
  /// prices.
  std::vector<double> priced(const std::vector<double>& prices, bool with_costs) const;

  std::size_t columns_;
  std::vector<double> costs_, lower_, upper_;  // By variable.
  std::vector<std::shared_ptr<const LinearRow>> rows_;
  // Variables from columns_ on are the rows' slacks, 0 or more.
  std::vector<int> basic_;         // By row.
  std::vector<double> values_;     // By row: the value of its basic variable.
  std::vector<int> nonbasic_;      // By column.
  std::vector<char> is_at_upper_;  // By column.
  std::vector<double> reduced_;    // By column: its reduced cost.
  std::vector<double> cells_;      // By row and column.
  std::vector<int> place_;         // By variable: its row, or -1 - its column.
};

}  // namespace symprof::plan
