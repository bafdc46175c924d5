#include "workbench/compare/band.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "workbench/compare/align.h"

namespace symprof::workbench {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();
constexpr std::size_t least_lag = 50;

enum class EditMove : std::uint8_t { none, pair, only_a, only_b };

/// Cell (i, j) stands for the first i rows of A and the first j of B. Row i has the columns [begin,
/// end), and the cost of (0, 0) is 0.
class EditBand {
 public:
  EditBand(std::size_t rows_a, std::size_t rows_b, EditStart start)
      : rows_a_(rows_a), rows_b_(rows_b), start_(start) {
    const std::size_t apart = rows_a > rows_b ? rows_a - rows_b : rows_b - rows_a;
    lag_ = std::max(least_lag, apart + 1);
  }

  /// Column 0 and row 0 hold paths that begin with unpaired rows.
  std::size_t begin(std::size_t i) const {
    if (i == 0) return 0;
    const std::size_t first = i - 1 > lag_ ? i - lag_ : 1;
    return first == 1 && start_ == EditStart::any ? 0 : first;
  }
  std::size_t end(std::size_t i) const {
    if (i == 0) return start_ == EditStart::any ? std::min(rows_b_, lag_) + 1 : 1;
    return std::min(rows_b_, i - 1 + lag_) + 1;
  }

  void run(const std::function<double(std::size_t, std::size_t)>& cost) {
    before_.assign(rows_b_ + 1, never);
    now_.assign(rows_b_ + 1, never);
    moves_.resize(rows_a_ + 1);
    for (std::size_t i = 0; i <= rows_a_; ++i) {
      moves_[i].assign(end(i) > begin(i) ? end(i) - begin(i) : 0, EditMove::none);
      for (std::size_t j = begin(i); j < end(i); ++j) fill(i, j, cost);
      std::swap(before_, now_);
    }
  }

  double distance() const { return before_[rows_b_]; }
  EditMove move(std::size_t i, std::size_t j) const { return moves_[i][j - begin(i)]; }

 private:
  /// Only a cheaper move replaces another: ties keep the first.
  void fill(std::size_t i, std::size_t j,
            const std::function<double(std::size_t, std::size_t)>& cost) {
    double best = i == 0 && j == 0 ? 0 : never;
    EditMove move = EditMove::none;
    const auto offer = [&](double total, EditMove offered) {
      if (total < best) {
        best = total;
        move = offered;
      }
    };
    if (i > 0 && j > 0 && is_there(i - 1, j - 1))
      offer(before_[j - 1] + cost(i - 1, j - 1), EditMove::pair);
    if (i > 0 && is_there(i - 1, j)) offer(before_[j] + gap_cost, EditMove::only_a);
    if (j > begin(i)) offer(now_[j - 1] + gap_cost, EditMove::only_b);
    now_[j] = best;
    moves_[i][j - begin(i)] = move;
  }
  bool is_there(std::size_t i, std::size_t j) const { return j >= begin(i) && j < end(i); }

  std::size_t rows_a_, rows_b_, lag_ = least_lag;
  EditStart start_;
  std::vector<double> before_, now_;
  std::vector<std::vector<EditMove>> moves_;
};

}  // namespace

EditPath shortest_edit(std::size_t rows_a, std::size_t rows_b, EditStart start,
                       const std::function<double(std::size_t, std::size_t)>& cost) {
  EditBand band(rows_a, rows_b, rows_a == 0 || rows_b == 0 ? EditStart::any : start);
  band.run(cost);
  EditPath path;
  path.distance = band.distance();
  path.steps.reserve(rows_a + rows_b);
  for (std::size_t i = rows_a, j = rows_b; i > 0 || j > 0;) {
    const EditMove move = band.move(i, j);
    EditStep step{.a = {}, .b = {}, .cost = gap_cost};
    if (move == EditMove::pair) step.cost = cost(i - 1, j - 1);
    if (move != EditMove::only_b) step.a = --i;
    if (move != EditMove::only_a) step.b = --j;
    path.steps.push_back(step);
  }
  std::ranges::reverse(path.steps);
  return path;
}

}  // namespace symprof::workbench
