// A figure that is no polynomial of a size, as a piecewise curve: low-degree polynomials within a
// tolerance, and the sizes at which the next piece begins.
//
// Public header.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "plan/formulas/size_samples.h"

namespace symprof::plan {

struct CurvePiece {
  std::int64_t first = 0, last = 0;  ///< Inclusive sizes.
  std::vector<double> coefficients;  ///< Of 1, size, size². At most three.
  double largest_error = 0;          ///< The largest relative error against the measurements.
  bool jumps = false;  ///< True: the figure jumps behind the last size; else it bends.

  double at(std::int64_t size) const;
};

struct Curve {
  std::vector<CurvePiece> pieces;           ///< In order, without gaps.
  std::map<std::int64_t, double> measured;  ///< By size: all measurements.
};

struct CurveLimits {
  double tolerance = 0.02;  ///< Of a piece, as a share of the figure.
  int octaves = 5;          ///< Sizes are tried up to this many octaves above the start.
  int in_an_octave = 6;     ///< Initial sizes per octave; more where a piece ends.
};

/// The figure at a size; empty where there is none, which ends the curve.
using MeasureSize = std::function<std::optional<double>(std::int64_t)>;

/// Measures from the variable's start upward. A piece extends as far as one polynomial matches
/// every measured size; its end is bisected down to one size. Further sizes between the fitted ones
/// test each piece, and split it where it is wrong.
Curve find_curve(const Variable& variable, const MeasureSize& measure,
                 const CurveLimits& limits = {});

}  // namespace symprof::plan
