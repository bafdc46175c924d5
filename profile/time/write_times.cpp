// Writes the files that kernel_times.cpp reads.
#include <cmath>
#include <nlohmann/json.hpp>

#include "profile/time/fit.h"
#include "profile/time/formula.h"

namespace symprof::profile {
namespace {

/// Rounds to significant digits.
double with_digits(double value, int digits) {
  if (value == 0) return 0;
  const double scale = std::pow(10.0, digits - 1 - std::floor(std::log10(std::abs(value))));
  return std::round(value * scale) / scale;
}

double with_decimals(double value, int decimals) {
  const double scale = std::pow(10.0, decimals);
  return std::round(value * scale) / scale;
}

nlohmann::ordered_json json_of(const ClassTimes& times, const Formula& formula) {
  nlohmann::ordered_json coefficients, points = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < formula.coefficients.size(); ++i)
    coefficients[std::string(formula.coefficients[i].name)] =
        with_digits(times.coefficients.at(i), 4);
  for (const ResidualPoint& point : times.points) {
    nlohmann::ordered_json row = nlohmann::ordered_json::array();
    for (const double size : point.sizes) row.push_back(with_decimals(size, 2));
    row.push_back(with_decimals(point.residual, 3));
    points.push_back(std::move(row));
  }
  nlohmann::ordered_json json{{"fitted_on", times.fitted_on},
                              {"calibrated", times.is_calibrated},
                              {"coefficients", std::move(coefficients)},
                              {"interval", with_digits(times.interval, 4)}};
  if (!times.points.empty())
    json["spread"] = {{"deviation", with_decimals(times.spread.deviation, 3)},
                      {"scatter", with_decimals(times.spread.scatter, 3)},
                      {"launch", with_decimals(times.spread.launch, 3)}};
  if (times.campaigns > 0) json["campaigns"]["half_width"] = with_digits(times.campaigns, 4);
  if (times.largest_residual > 0)
    json["largest_residual"] = with_decimals(times.largest_residual, 3);
  if (times.is_at_boost) json["at_boost"] = true;
  if (times.floor_is_host) json["floor_is_host"] = true;
  for (const auto& [kind, factor] : times.factors) json["factors"][kind] = with_digits(factor, 4);
  if (!points.empty()) json["points"] = std::move(points);
  if (times.in_cache) json["in_cache"] = json_of(*times.in_cache, formula);
  return json;
}

}  // namespace

std::string to_json(const KernelTimes& times) {
  nlohmann::ordered_json json{{"classes", nlohmann::ordered_json::object()}};
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (!times[i]) continue;
    const Formula& formula = formula_of(static_cast<TimeClass>(i));
    json["classes"][std::string(formula.name)] = json_of(*times[i], formula);
  }
  return json.dump() + "\n";
}

}  // namespace symprof::profile
