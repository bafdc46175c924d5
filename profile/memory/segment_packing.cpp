#include "profile/memory/segment_packing.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/rounding.h"
#include "profile/memory/allocator/caching_allocator.h"

namespace symprof::profile {
namespace {

/// A segment is discretized into at least this many cells; no block of its pool is smaller than a
/// cell, so none counts as zero.
constexpr std::int64_t most_cells = 4096;

std::int64_t cell_of(std::int64_t bytes) {
  return std::clamp(divide_up(bytes, most_cells), smallest_block_bytes, small_limit_bytes);
}

/// The knapsack table of a segment or hole, by cells.
struct Filled {
  std::int64_t cell = 0;
  std::vector<double> most;  ///< Their weight.
  std::vector<int> last;     ///< The last size added; -1: none.
};

/// A pattern: some blocks in a segment, at the cost of its bytes, or in one of the limited holes.
struct Column {
  double bytes = 0;
  std::vector<double> rows;  ///< Counts of sizes and of holes.
};

/// The linear program: cover the held blocks of each size by patterns of minimal total bytes.
/// Solved by the revised simplex method; rows are sizes, then holes.
class CuttingStock {
 public:
  CuttingStock(const std::map<std::int64_t, std::int64_t>& counts,
               const std::set<std::int64_t>& segments, const std::set<std::int64_t>& own,
               const std::map<std::int64_t, std::int64_t>& holes)
      : segments_(segments.begin(), segments.end()) {
    for (const auto& [bytes, count] : counts) {
      sizes_.push_back(bytes);
      amounts_.push_back(static_cast<double>(count));
    }
    for (const auto& [bytes, count] : holes) {
      if (sizes_.empty() || bytes < sizes_.front()) continue;
      holes_.push_back(bytes);
      amounts_.push_back(static_cast<double>(count));
    }
    begin(own);
  }

  /// Dual weights by size; at most a rounding too heavy if solved to optimality.
  std::vector<double> weights() {
    while (improve()) {
    }
    std::vector<double> found = weights_of_basis();
    found.resize(sizes_.size());
    for (double& weight : found) weight = std::max(weight, 0.0);
    return found;
  }

 private:
  std::size_t rows() const { return amounts_.size(); }

  /// Initial basis: each size alone in its cheapest segment; holes unused.
  void begin(const std::set<std::int64_t>& own) {
    inverse_.assign(rows(), std::vector<double>(rows(), 0));
    for (std::size_t i = 0; i < rows(); ++i) inverse_[i][i] = 1;
    costs_.assign(rows(), 0);
    for (std::size_t i = 0; i < sizes_.size(); ++i) {
      double least = own.contains(sizes_[i]) ? static_cast<double>(sizes_[i])
                                             : std::numeric_limits<double>::infinity();
      double blocks = 1;
      for (const std::int64_t segment : segments_) {
        const std::int64_t whole = segment / sizes_[i];
        const auto fit = static_cast<double>(whole);
        if (whole == 0 || static_cast<double>(segment) / fit >= least) continue;
        least = static_cast<double>(segment) / fit;
        blocks = fit;
      }
      costs_[i] = least * blocks;
      inverse_[i][i] = 1 / blocks;
      amounts_[i] /= blocks;
    }
  }

  std::vector<double> weights_of_basis() const {
    std::vector<double> weights(rows(), 0);
    for (std::size_t row = 0; row < rows(); ++row)
      if (costs_[row] != 0)
        for (std::size_t i = 0; i < rows(); ++i) weights[i] += costs_[row] * inverse_[row][i];
    return weights;
  }

  /// One simplex step. False if no column improves, or the work limit is reached.
  bool improve() {
    if (work_ >= most_work) return false;
    const std::vector<double> weights = weights_of_basis();
    for (std::size_t row = 0; row < rows(); ++row) {
      const double surplus = row < sizes_.size() ? -1 : 1;  // Surplus blocks, unused holes.
      if (surplus * weights[row] <= rounding) continue;
      Column column{0, std::vector<double>(rows(), 0)};
      column.rows[row] = surplus;
      return enter(column);
    }
    for (std::size_t tried = 0; tried < segments_.size(); ++tried) {
      const std::int64_t segment = segments_[next_];
      const Filled filled = fill(segment, weights);
      if (filled.most.back() > static_cast<double>(segment) * (1 + rounding))
        return enter(column_of(filled, filled.most.size() - 1, static_cast<double>(segment)));
      next_ = (next_ + 1) % segments_.size();
    }
    return enter_hole(weights);
  }

  /// Prices the holes: enters the pattern whose blocks weigh the most above the hole's dual value.
  bool enter_hole(const std::vector<double>& weights) {
    if (holes_.empty()) return false;
    const Filled filled = fill(holes_.back(), weights);
    const auto cells_of = [&](std::size_t hole) {
      return static_cast<std::size_t>(holes_[hole] / filled.cell);
    };
    const auto gain_of = [&](std::size_t hole) {
      return filled.most[cells_of(hole)] + weights[sizes_.size() + hole];
    };
    std::size_t best = 0;
    for (std::size_t hole = 1; hole < holes_.size(); ++hole)
      if (gain_of(hole) > gain_of(best)) best = hole;
    if (gain_of(best) <= rounding * static_cast<double>(holes_.back())) return false;
    Column column = column_of(filled, cells_of(best), 0);
    column.rows[sizes_.size() + best] = 1;
    return enter(column);
  }

  Filled fill(std::int64_t bytes, const std::vector<double>& weights) {
    Filled filled;
    filled.cell = cell_of(bytes);
    filled.most.assign(static_cast<std::size_t>(bytes / filled.cell) + 1, 0);
    filled.last.assign(filled.most.size(), -1);
    for (std::size_t size = 0; size < sizes_.size(); ++size) {
      const auto cells = static_cast<std::size_t>(sizes_[size] / filled.cell);
      if (sizes_[size] > bytes || weights[size] <= 0) continue;
      work_ += filled.most.size();
      for (std::size_t i = cells; i < filled.most.size(); ++i)
        if (const double with = filled.most[i - cells] + weights[size]; with > filled.most[i]) {
          filled.most[i] = with;
          filled.last[i] = static_cast<int>(size);
        }
    }
    return filled;
  }

  Column column_of(const Filled& filled, std::size_t cells, double bytes) const {
    Column column{bytes, std::vector<double>(rows(), 0)};
    for (std::size_t i = cells; filled.last[i] >= 0;) {
      const auto size = static_cast<std::size_t>(filled.last[i]);
      ++column.rows[size];
      i -= static_cast<std::size_t>(sizes_[size] / filled.cell);
    }
    return column;
  }

  /// Enters `column`; the ratio test chooses the leaving one.
  bool enter(const Column& column) {
    std::vector<double> direction(rows(), 0);
    for (std::size_t row = 0; row < rows(); ++row)
      for (std::size_t i = 0; i < rows(); ++i) direction[row] += inverse_[row][i] * column.rows[i];
    std::size_t leaves = rows();
    for (std::size_t row = 0; row < rows(); ++row)
      if (direction[row] > rounding && (leaves == rows() || amounts_[row] * direction[leaves] <
                                                                amounts_[leaves] * direction[row]))
        leaves = row;
    if (leaves == rows()) return false;
    const double pivot = direction[leaves];
    for (double& value : inverse_[leaves]) value /= pivot;
    amounts_[leaves] /= pivot;
    costs_[leaves] = column.bytes;
    for (std::size_t row = 0; row < rows(); ++row) {
      if (row == leaves || direction[row] == 0) continue;
      for (std::size_t i = 0; i < rows(); ++i)
        inverse_[row][i] -= direction[row] * inverse_[leaves][i];
      amounts_[row] = std::max(amounts_[row] - direction[row] * amounts_[leaves], 0.0);
    }
    work_ += rows() * rows();
    return true;
  }

  static constexpr double rounding = 1e-9;
  static constexpr std::size_t most_work = 20'000'000;  // Cells and numbers visited.

  std::vector<std::int64_t> sizes_, segments_, holes_;
  std::vector<double> amounts_, costs_;       // Of the basis, by row.
  std::vector<std::vector<double>> inverse_;  // By row.
  std::size_t next_ = 0;                      // The first segment to price.
  std::size_t work_ = 0;
};

}  // namespace

Filling::Filling(std::int64_t bytes)
    : bytes_(bytes), cell_(cell_of(bytes)), most_(static_cast<std::size_t>(bytes / cell_) + 1, 0) {}

void Filling::add(std::int64_t bytes, std::int64_t weight) {
  const auto cells = static_cast<std::size_t>(bytes / cell_);
  for (std::size_t i = cells; i < most_.size(); ++i)
    most_[i] = std::max(most_[i], most_[i - cells] + weight);
}

std::int64_t Filling::room_for(std::int64_t bytes, std::int64_t most) const {
  if (bytes > bytes_) return std::numeric_limits<std::int64_t>::max();
  const auto cells = static_cast<std::size_t>(bytes / cell_);
  std::int64_t room = std::numeric_limits<std::int64_t>::max();
  for (std::size_t count = 1; count * cells < most_.size(); ++count)
    room = std::min(
        room, (most - most_[most_.size() - 1 - count * cells]) / static_cast<std::int64_t>(count));
  return room;
}

std::map<std::int64_t, std::int64_t> packing_weights(
    const std::map<std::int64_t, std::int64_t>& counts, const std::set<std::int64_t>& segments,
    const std::set<std::int64_t>& own, const std::map<std::int64_t, std::int64_t>& holes) {
  const std::vector<double> found = CuttingStock(counts, segments, own, holes).weights();
  std::map<std::int64_t, std::int64_t> weights;
  std::size_t next = 0;
  for (const auto& [bytes, count] : counts) {
    const auto weight = static_cast<std::int64_t>(std::floor(found[next++]));
    weights[bytes] = own.contains(bytes) ? std::min(weight, bytes) : weight;
  }
  // Scales weights down if slightly too heavy, or if not solved to optimality.
  double share = 1;
  for (const std::int64_t segment : segments) {
    Filling filling(segment);
    for (const auto& [bytes, weight] : weights) filling.add(bytes, weight);
    if (filling.most() > segment)
      share = std::min(share, static_cast<double>(segment) / static_cast<double>(filling.most()));
  }
  if (share < 1)
    for (auto& [bytes, weight] : weights)
      weight = static_cast<std::int64_t>(std::floor(static_cast<double>(weight) * share));
  return weights;
}

}  // namespace symprof::profile
