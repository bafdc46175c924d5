#include "plan/formulas/formulas.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>

#include "base/error.h"
#include "plan/formulas/alignment.h"

namespace symprof::plan {
namespace {

/// Points that fit the polynomials, and points that check them.
struct Plan {
  Grid grid;
  std::vector<Sizes> fit, check;
};

/// Twice the last size of a line, if within the variable's range.
std::int64_t far_size(const Variable& variable, std::int64_t last) {
  return variable.most && 2 * last > *variable.most ? last : 2 * last;
}

/// Finds formulas from the starts of the variables.
class Finder {
 public:
  Finder(const std::vector<Variable>& variables, SizeSamples& samples) : samples_(samples) {
    result_.variables = variables;
  }

  Formulas run() {
    Sizes start;
    for (const Variable& variable : result_.variables) start.push_back(variable.start);
    figures_ = samples_.required(start).size();
    for (std::size_t i = 0; i < start.size(); ++i)
      result_.lines.push_back(find_line(result_.variables, i, samples_));
    plan(start);
    fit();
    align(result_.formulas, result_.lines, samples_);
    result_.fitted = static_cast<int>(plan_.fit.size());
    return std::move(result_);
  }

 private:
  /// The highest degree among figures that are polynomials along the variable, at least 1.
  int degree_along(std::size_t variable, Sizes point) {
    std::vector<const std::vector<std::int64_t>*> line;
    for (const std::int64_t size : result_.lines[variable].sizes) {
      point[variable] = size;
      line.push_back(&samples_.required(point));
    }
    int degree = 1;
    std::vector<std::int64_t> values(line.size());
    for (std::size_t figure = 0; figure < figures_; ++figure) {
      for (std::size_t i = 0; i < line.size(); ++i) values[i] = (*line[i])[figure];
      degree = std::max(degree, degree_of(values));
    }
    return degree;
  }

  void plan(const Sizes& start) {
    std::set<Sizes> check{start};
    Sizes far, between;
    for (std::size_t i = 0; i < start.size(); ++i) {
      const Sizes& line = result_.lines[i].sizes;
      const auto count = static_cast<std::ptrdiff_t>(degree_along(i, start)) + 1;
      plan_.grid.emplace_back(line.begin(), line.begin() + count);
      far.push_back(far_size(result_.variables[i], line.back()));
      between.push_back(i % 2 == 0 ? line[line.size() - 2] : line.back());
      Sizes point = start;
      for (const std::int64_t size : line) {
        point[i] = size;
        check.insert(point);
      }
    }
    plan_.fit = points_of(plan_.grid);
    for (const Sizes& point : plan_.fit) {
      samples_.required(point);
      check.erase(point);
    }
    for (const Sizes& point : {far, between})
      if (samples_.at(point)) check.insert(point);
    plan_.check.assign(check.begin(), check.end());
  }

  void fit() {
    // Repeated layers have the same figures at all sizes.
    std::map<std::vector<std::int64_t>, Formula> known;
    std::vector<std::int64_t> values;
    for (std::size_t figure = 0; figure < figures_; ++figure) {
      values.clear();
      for (const auto* points : {&plan_.fit, &plan_.check})
        for (const Sizes& point : *points) values.push_back(samples_.required(point)[figure]);
      const auto found = known.find(values);
      result_.formulas.push_back(found != known.end() ? found->second
                                                      : known[values] = formula(values));
    }
  }

  /// `values` are those at the points of the fit, then of the check.
  Formula formula(std::span<const std::int64_t> values) const {
    Formula result;
    for (const SizeLine& line : result_.lines) result.multiples.push_back(line.step);
    const Polynomial polynomial = interpolate(plan_.grid, values.first(plan_.fit.size()));
    result.mismatch = first_mismatch(polynomial, values.subspan(plan_.fit.size()));
    if (!result.mismatch) result.polynomial = polynomial;
    return result;
  }

  std::optional<Mismatch> first_mismatch(const Polynomial& polynomial,
                                         std::span<const std::int64_t> measured) const {
    for (std::size_t i = 0; i < plan_.check.size(); ++i) {
      const Rational predicted = polynomial.at(plan_.check[i]);
      if (predicted != Rational(measured[i]))
        return Mismatch{plan_.check[i], measured[i], predicted};
    }
    return std::nullopt;
  }

  SizeSamples& samples_;
  Formulas result_;
  Plan plan_;
  std::size_t figures_ = 0;
};

/// Restores the steps as multiples where sizes measured for other figures contradict a formula.
void trust_steps_alone(Formulas& result, const SizeSamples& samples) {
  for (std::size_t figure = 0; figure < result.formulas.size(); ++figure) {
    Formula& formula = result.formulas[figure];
    if (!formula.polynomial || agrees(formula, figure, samples)) continue;
    for (std::size_t i = 0; i < result.lines.size(); ++i)
      formula.multiples[i] = result.lines[i].step;
  }
}

/// Multiples at which the rounding of memory blocks (512 bytes) and of attention kernels' tiles
/// (128) is invisible; in a small range, the largest with at least four sizes.
constexpr std::array<std::int64_t, 3> round_sizes = {128, 64, 32};
constexpr std::int64_t wanted_round_sizes = 6, least_round_sizes = 4;

/// Gives the variable a rounder start. Returns false if its range is too small, or its sizes are
/// that round already.
bool make_rounder(Variable& variable, const SizeLine& line) {
  const std::int64_t start = std::lcm(variable.start, round_sizes.front());
  if (start == variable.start) return false;
  if (!variable.most || wanted_round_sizes * start <= *variable.most) {
    variable.start = start;
    return true;
  }
  for (const std::int64_t size : round_sizes) {
    if (line.step % size == 0) return false;
    const std::int64_t first = (variable.least + size - 1) / size;
    if (*variable.most / size - first + 1 < least_round_sizes) continue;
    variable.start = first * size;
    variable.round = size;
    return true;
  }
  return false;
}

/// The variables with rounder starts; empty if no variable can have one.
std::optional<std::vector<Variable>> rounder(const Formulas& found) {
  std::vector<Variable> variables = found.variables;
  bool changes = false;
  for (std::size_t i = 0; i < variables.size(); ++i)
    changes = make_rounder(variables[i], found.lines[i]) || changes;
  return changes ? std::optional(std::move(variables)) : std::nullopt;
}

/// Adds formulas at rounder sizes, which must match all measurements.
void add_rounder(Formulas& result, SizeSamples& samples) {
  const std::optional<std::vector<Variable>> variables = rounder(result);
  if (!variables) return;
  Formulas found;
  try {
    found = Finder(*variables, samples).run();
  } catch (const Error&) {
    return;  // The model has no such sizes: nothing is added.
  }
  for (std::size_t figure = 0; figure < result.formulas.size(); ++figure)
    if (const Formula& formula = found.formulas[figure]; !result.formulas[figure].polynomial &&
                                                         formula.polynomial &&
                                                         agrees(formula, figure, samples))
      result.formulas[figure] = formula;
  result.fitted += found.fitted;
  result.rounder_lines = std::move(found.lines);
}

}  // namespace

bool holds_at(const Formula& formula, const Sizes& sizes) {
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i] % formula.multiples[i] != 0) return false;
  return true;
}

Formulas find_formulas(const std::vector<Variable>& variables, const Measure& measure) {
  SizeSamples samples(measure);
  Formulas result = Finder(variables, samples).run();
  trust_steps_alone(result, samples);
  const auto is_missing = [](const Formula& formula) { return !formula.polynomial; };
  if (std::ranges::any_of(result.formulas, is_missing)) add_rounder(result, samples);
  result.checked = samples.measured() - result.fitted;
  result.refused = samples.refused();
  return result;
}

}  // namespace symprof::plan
