// Linear programmes with few rows, solved again and again with more rows and other bounds: the dual
// simplex method with bounded variables, on a tableau of all columns (Lemke, Naval Research
// Logistics Quarterly 1, 1954; Wagner, ibid. 5, 1958).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace symprof::plan {

/// The sum of some variables, each times a factor, is `most` or less.
struct LinearRow {
  std::vector<std::pair<int, double>> terms;
  double most = 0;
};

class DualSimplex {
 public:
  /// What is least, and what each variable may be. All bounds are finite.
  DualSimplex(std::vector<double> costs, std::vector<double> lower, std::vector<double> upper);

  void add(std::shared_ptr<const LinearRow> row);
  void set_bounds(int variable, double lower, double upper);

  enum class Outcome : std::uint8_t { least, impossible, stopped };
  /// `work` is counted down by the cells of the tableau that are changed; stopped when it is used
  /// up.
  Outcome solve(std::ptrdiff_t& work);

  std::vector<double> values() const;
  /// No less is possible: computed from the rows and their prices alone, whatever was rounded on
  /// the way.
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
  /// How many cells it changed.
  std::ptrdiff_t pivot(std::size_t row, std::size_t column, bool to_upper);
  /// By variable: its cost with what the rows add to it at these prices.
  std::vector<double> priced(const std::vector<double>& prices, bool with_costs) const;

  std::size_t columns_;
  std::vector<double> costs_, lower_, upper_;  // By variable.
  std::vector<std::shared_ptr<const LinearRow>> rows_;
  // Variables from columns_ on are what rows leave to their most, 0 or more.
  std::vector<int> basic_;         // By row.
  std::vector<double> values_;     // By row: of its basic variable.
  std::vector<int> nonbasic_;      // By column.
  std::vector<char> is_at_upper_;  // By column.
  std::vector<double> reduced_;    // By column: what one more of it costs.
  std::vector<double> cells_;      // By row and column.
  std::vector<int> place_;         // By variable: its row, or -1 - its column.
};

}  // namespace symprof::plan
