#include "profile/time/residuals.h"

#include <algorithm>
#include <cmath>

namespace symprof::profile {
namespace {

/// More distant rows hardly matter: nearer ones screen them.
constexpr std::size_t neighbors = 40;

double squared_distance(const std::vector<double>& a, const std::vector<double>& b,
                        double last_scale) {
  double sum = 0;
  for (std::size_t i = 0; i + 1 < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  const double last = (a.back() - b.back()) * last_scale;
  return sum + last * last;
}

struct Neighbor {
  double distance;  ///< Squared.
  const ResidualPoint* point;
};

/// The nearest points; ties go to the first, for a deterministic result.
std::vector<Neighbor> nearest(const std::vector<ResidualPoint>& points,
                              const std::vector<double>& sizes, double last_scale) {
  std::vector<Neighbor> found;
  found.reserve(points.size());
  for (const ResidualPoint& point : points)
    if (point.sizes.size() == sizes.size())
      found.push_back({squared_distance(point.sizes, sizes, last_scale), &point});
  const auto closer = [](const Neighbor& a, const Neighbor& b) {
    return a.distance < b.distance || (a.distance == b.distance && a.point < b.point);
  };
  const std::size_t count = std::min(neighbors, found.size());
  std::partial_sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(count), found.end(),
                    closer);
  found.resize(count);
  return found;
}

/// A lower triangle, row by row.
class Cholesky {
 public:
  explicit Cholesky(std::size_t size) : size_(size), values_(size * size) {}

  double& at(std::size_t row, std::size_t column) { return values_[row * size_ + column]; }

  /// Replaces the matrix by its factor.
  void factorize() {
    for (std::size_t j = 0; j < size_; ++j) {
      for (std::size_t k = 0; k < j; ++k) at(j, j) -= at(j, k) * at(j, k);
      at(j, j) = std::sqrt(std::max(at(j, j), 1e-12));
      for (std::size_t i = j + 1; i < size_; ++i) {
        for (std::size_t k = 0; k < j; ++k) at(i, j) -= at(i, k) * at(j, k);
        at(i, j) /= at(j, j);
      }
    }
  }

  /// Solves factor · x = right, in place.
  void forward(std::vector<double>& right) {
    for (std::size_t i = 0; i < size_; ++i) {
      for (std::size_t k = 0; k < i; ++k) right[i] -= at(i, k) * right[k];
      right[i] /= at(i, i);
    }
  }

  /// The inverse of the factor, also lower triangular; computed row by row, so that the inner loop
  /// runs along rows.
  Cholesky inverse() const {
    Cholesky result(size_);
    for (std::size_t i = 0; i < size_; ++i) {
      double* const row = &result.values_[i * size_];
      for (std::size_t k = 0; k < i; ++k) {
        const double share = values_[i * size_ + k];
        const double* const before = &result.values_[k * size_];
        for (std::size_t j = 0; j <= k; ++j) row[j] -= share * before[j];
      }
      row[i] = 1;
      for (std::size_t j = 0; j <= i; ++j) row[j] /= values_[i * size_ + i];
    }
    return result;
  }

 private:
  std::size_t size_;
  std::vector<double> values_;
};

double clamped(const ResidualPoint& point, const ResidualKernel& kernel) {
  return std::clamp(point.residual, -kernel.largest, kernel.largest);
}

/// How well the Gaussian process predicts the neighbors from each other: the root mean square of
/// their leave-one-out errors, each divided by its predicted standard deviation. 1 is as expected.
///
/// With K the covariance matrix and r the residuals, such an error is (K⁻¹ r)ᵢ / √(K⁻¹)ᵢᵢ
/// (Rasmussen and Williams, Gaussian Processes for Machine Learning, 5.12). The mean is weighted by
/// `shares`, the correlation with the queried row, squared; `usual_rows` more errors of 1 keep it
/// near 1 where neighbors are few. `factor`: the Cholesky factor L of K. `solved`: L⁻¹ r.
double scatter_of(const Cholesky& factor, const std::vector<double>& solved,
                  const std::vector<double>& shares) {
  constexpr double usual_rows = 2, outlier = 5;
  const std::size_t count = solved.size();
  Cholesky inverse = factor.inverse();
  std::vector<double> weighted(count), diagonal(count);
  for (std::size_t k = 0; k < count; ++k)
    for (std::size_t i = 0; i <= k; ++i) {
      weighted[i] += inverse.at(k, i) * solved[k];
      diagonal[i] += inverse.at(k, i) * inverse.at(k, i);
    }
  double squares = usual_rows, rows = usual_rows;
  for (std::size_t i = 0; i < count; ++i) {
    const double share = shares[i] * shares[i];
    squares += share * std::min(weighted[i] * weighted[i] / diagonal[i], outlier * outlier);
    rows += share;
  }
  return std::sqrt(squares / rows);
}

}  // namespace

double root_mean_square(const std::vector<ResidualPoint>& points, const ResidualKernel& kernel) {
  double sum = 0;
  for (const ResidualPoint& point : points) sum += clamped(point, kernel) * clamped(point, kernel);
  return std::sqrt(sum / static_cast<double>(std::max<std::size_t>(points.size(), 1)));
}

ResidualAt residual_at(const std::vector<ResidualPoint>& points, const std::vector<double>& sizes,
                       const ResidualKernel& kernel) {
  const std::vector<Neighbor> near = nearest(points, sizes, kernel.last_scale);
  const double variance = kernel.deviation * kernel.deviation;
  const double noise = kernel.noise * kernel.noise;
  const auto covariance = [&](double squared) {
    return variance * std::exp(-std::sqrt(squared) / kernel.length);
  };
  Cholesky factor(near.size());
  std::vector<double> residuals, to_here, shares;
  residuals.reserve(near.size()), to_here.reserve(near.size()), shares.reserve(near.size());
  for (std::size_t i = 0; i < near.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j)
      factor.at(i, j) = covariance(
          squared_distance(near[i].point->sizes, near[j].point->sizes, kernel.last_scale));
    factor.at(i, i) = variance + noise;
    residuals.push_back(clamped(*near[i].point, kernel));
    to_here.push_back(covariance(near[i].distance));
    shares.push_back(to_here.back() / variance);
  }
  factor.factorize();
  factor.forward(residuals);
  factor.forward(to_here);
  ResidualAt result;
  double explained = 0;
  for (std::size_t i = 0; i < near.size(); ++i) {
    result.mean += to_here[i] * residuals[i];
    explained += to_here[i] * to_here[i];
  }
  result.deviation = std::sqrt(std::max(variance + noise - explained, 1e-8));
  result.scatter = scatter_of(factor, residuals, shares);
  return result;
}

}  // namespace symprof::profile
