// A figure that is no polynomial of a size as a curve: pieces that are short polynomials within a
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
  std::int64_t first = 0, last = 0;  ///< Sizes, both within.
  std::vector<double> coefficients;  ///< Of 1, size, size². At most three.
  double largest_error = 0;          ///< Beside what was measured, as a share of it.
  bool jumps = false;  ///< From its last size to the next the figure jumps; else it bends there.

  double at(std::int64_t size) const;
};

struct Curve {
  std::vector<CurvePiece> pieces;           ///< In order, one begins where the other ends.
  std::map<std::int64_t, double> measured;  ///< At all sizes that were tried.
};

struct CurveLimits {
  double tolerance = 0.02;  ///< Of a piece, as a share of the figure.
  int octaves = 5;          ///< How far above the start sizes are tried.
  int in_an_octave = 6;     ///< So many at first; more where a piece ends.
};

/// The figure at a size; empty where there is none, which ends the curve.
using MeasureSize = std::function<std::optional<double>(std::int64_t)>;

/// Measures from the variable's start on. A piece goes on as far as one polynomial agrees with
/// every size that was tried; where it ends is halved down to one size. Sizes between those that
/// made a piece test it, and break it up where it is wrong.
Curve find_curve(const Variable& variable, const MeasureSize& measure,
                 const CurveLimits& limits = {});

}  // namespace symprof::plan
