#include "plan/formulas/curve.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

namespace symprof::plan {
namespace {

constexpr int most_coefficients = 3;
/// A higher degree fits more sizes anyway: it must reach this many times as many to be chosen.
constexpr double worth_a_degree = 1.5;
/// The most rounds of testing pieces between their sizes and refitting them with the failures.
constexpr int most_rounds = 4;

struct Sample {
  std::int64_t size;
  double value;
};

/// Solves `matrix` · x = `right` for the first `count` unknowns by elimination; the matrix is
/// symmetric, and positive definite if there are at least as many sizes as unknowns.
std::vector<double> solve(
    std::array<std::array<double, most_coefficients>, most_coefficients> matrix,
    std::array<double, most_coefficients> right, int count) {
  for (int i = 0; i < count; ++i)
    for (int below = i + 1; below < count; ++below) {
      const double factor = matrix[below][i] / matrix[i][i];
      for (int j = i; j < count; ++j) matrix[below][j] -= factor * matrix[i][j];
      right[below] -= factor * right[i];
    }
  std::vector<double> solution(count);
  for (int i = count; i-- > 0;) {
    double rest = right[i];
    for (int j = i + 1; j < count; ++j) rest -= matrix[i][j] * solution[j];
    solution[i] = rest / matrix[i][i];
  }
  return solution;
}

/// The polynomial of `count` coefficients that minimizes the squared relative errors.
std::vector<double> fitted(std::span<const Sample> samples, int count) {
  const auto scale = static_cast<double>(samples.back().size);
  std::array<std::array<double, most_coefficients>, most_coefficients> matrix{};
  std::array<double, most_coefficients> right{};
  for (const Sample& sample : samples) {
    std::array<double, most_coefficients> powers{};
    for (int i = 0; i < count; ++i)
      powers[i] = std::pow(static_cast<double>(sample.size) / scale, i) / sample.value;
    for (int i = 0; i < count; ++i) {
      right[i] += powers[i];
      for (int j = 0; j < count; ++j) matrix[i][j] += powers[i] * powers[j];
    }
  }
  std::vector<double> coefficients = solve(matrix, right, count);
  for (int i = 0; i < count; ++i) coefficients[i] /= std::pow(scale, i);
  return coefficients;
}

double error_of(const CurvePiece& piece, const Sample& sample) {
  return std::abs(piece.at(sample.size) / sample.value - 1);
}

CurvePiece piece_of(std::span<const Sample> samples, int count) {
  CurvePiece piece{.first = samples.front().size,
                   .last = samples.back().size,
                   .coefficients = fitted(samples, count)};
  for (const Sample& sample : samples)
    piece.largest_error = std::max(piece.largest_error, error_of(piece, sample));
  return piece;
}

class CurveFinder {
 public:
  CurveFinder(const Variable& variable, const MeasureSize& measure, const CurveLimits& limits)
      : limits_(limits), measure_(measure), round_(variable.round) {
    const double most = variable.most ? static_cast<double>(*variable.most) : INFINITY;
    for (int i = 0; i <= limits.octaves * limits.in_an_octave; ++i) {
      const double size = static_cast<double>(variable.start) *
                          std::exp2(static_cast<double>(i) / limits.in_an_octave);
      if (size > most || !value(rounded(size))) break;
    }
  }

  Curve run() {
    Curve curve;
    for (int round = 0; round < most_rounds; ++round) {
      curve.pieces = pieces();
      if (!test(curve.pieces)) break;
    }
    curve.measured = known_;
    return curve;
  }

 private:
  std::int64_t rounded(double size) const {
    return std::max<std::int64_t>(std::llround(size / static_cast<double>(round_)), 1) * round_;
  }

  std::optional<double> value(std::int64_t size) {
    if (const auto found = known_.find(size); found != known_.end()) return found->second;
    const std::optional<double> measured = measure_(size);
    if (measured && *measured > 0) return known_[size] = *measured;
    return std::nullopt;
  }

  std::vector<Sample> samples_from(std::int64_t first, std::int64_t last) const {
    std::vector<Sample> samples;
    for (auto place = known_.lower_bound(first); place != known_.end() && place->first <= last;
         ++place)
      samples.push_back({place->first, place->second});
    return samples;
  }

  /// How many of `samples` one polynomial of `count` coefficients fits.
  std::size_t reach(std::span<const Sample> samples, int count) const {
    std::size_t held = std::min<std::size_t>(count, samples.size());
    while (held < samples.size() &&
           piece_of(samples.first(held + 1), count).largest_error <= limits_.tolerance)
      ++held;
    return held;
  }

  CurvePiece longest(std::span<const Sample> samples) const {
    int best = 1;
    std::size_t held = reach(samples, 1);
    for (int count = 2; count <= most_coefficients; ++count) {
      const std::size_t more = reach(samples, count);
      if (static_cast<double>(more) < worth_a_degree * static_cast<double>(held)) continue;
      // Two more sizes than coefficients must agree, and work grows: a downward bend is a step.
      if (more < static_cast<std::size_t>(count) + 2 ||
          fitted(samples.first(more), count).back() <= 0)
        continue;
      best = count, held = more;
    }
    return piece_of(samples.first(held), best);
  }

  /// Bisects the gap behind a piece, which grows by the sizes that it fits.
  void halve(CurvePiece& piece, std::int64_t beyond) {
    while (beyond - piece.last > round_) {
      const std::int64_t middle = rounded(static_cast<double>(piece.last + beyond) / 2);
      if (middle <= piece.last || middle >= beyond) break;
      const std::optional<double> measured = value(middle);
      if (!measured) break;
      const double error = error_of(piece, {middle, *measured});
      if (error > limits_.tolerance) {
        beyond = middle;
      } else {
        piece.last = middle;
        piece.largest_error = std::max(piece.largest_error, error);
      }
    }
    const double here = piece.at(piece.last) / known_.at(piece.last);
    const double there = piece.at(beyond) / known_.at(beyond);
    piece.jumps = beyond - piece.last <= round_ && std::abs(there - here) > limits_.tolerance / 2;
  }

  std::vector<CurvePiece> pieces() {
    std::vector<CurvePiece> found;
    if (known_.empty()) return found;
    const std::int64_t end = known_.rbegin()->first;
    for (std::int64_t first = known_.begin()->first;;) {
      CurvePiece piece = longest(samples_from(first, end));
      if (piece.last < end) halve(piece, known_.upper_bound(piece.last)->first);
      found.push_back(piece);
      const auto next = known_.upper_bound(piece.last);
      if (next == known_.end()) return found;
      first = next->first;
    }
  }

  /// Measures between all sizes of the pieces. Returns true if a piece is wrong there.
  bool test(std::vector<CurvePiece>& pieces) {
    bool is_wrong = false;
    for (CurvePiece& piece : pieces) {
      const std::vector<Sample> samples = samples_from(piece.first, piece.last);
      for (std::size_t i = 0; i + 1 < samples.size(); ++i) {
        const std::int64_t middle =
            rounded(static_cast<double>(samples[i].size + samples[i + 1].size) / 2);
        if (middle <= samples[i].size || middle >= samples[i + 1].size) continue;
        if (tested_.contains(middle)) continue;
        tested_[middle] = true;
        const std::optional<double> measured = value(middle);
        if (!measured) continue;
        const double error = error_of(piece, {middle, *measured});
        piece.largest_error = std::max(piece.largest_error, error);
        is_wrong = is_wrong || error > limits_.tolerance;
      }
    }
    return is_wrong;
  }

  CurveLimits limits_;
  const MeasureSize& measure_;
  std::int64_t round_;
  std::map<std::int64_t, double> known_;
  std::map<std::int64_t, bool> tested_;
};

}  // namespace

double CurvePiece::at(std::int64_t size) const {
  double value = 0;
  for (std::size_t i = coefficients.size(); i-- > 0;)
    value = value * static_cast<double>(size) + coefficients[i];
  return value;
}

Curve find_curve(const Variable& variable, const MeasureSize& measure, const CurveLimits& limits) {
  return CurveFinder(variable, measure, limits).run();
}

}  // namespace symprof::plan
