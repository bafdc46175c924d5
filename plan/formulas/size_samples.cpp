#include "plan/formulas/size_samples.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace symprof::plan {
namespace {

/// Enough for a polynomial of degree 4 (attention over an image, by the side of the image) and one
/// check.
constexpr std::int64_t wanted_sizes = 6;
constexpr std::int64_t least_sizes = 3;
constexpr int most_refusals = 16;

/// Divisors of `start`, the largest first: steps that keep most of the divisibility that a model
/// may require of a size.
std::vector<std::int64_t> divisors(std::int64_t start) {
  std::vector<std::int64_t> result;
  for (std::int64_t divisor = 1; divisor <= start / divisor; ++divisor) {
    if (start % divisor != 0) continue;
    result.push_back(divisor);
    if (divisor != start / divisor) result.push_back(start / divisor);
  }
  std::ranges::sort(result, std::greater());
  return result;
}

/// `count` multiples of `step` within the variable's range, from its start on if possible.
std::optional<SizeLine> line_of(const Variable& variable, std::int64_t step, std::int64_t count) {
  const std::int64_t lowest = (variable.least + step - 1) / step;
  std::int64_t first = std::max(variable.start / step, lowest);
  if (variable.most) first = std::min(first, *variable.most / step - count + 1);
  if (first < lowest) return std::nullopt;
  SizeLine line{step, {}};
  for (std::int64_t i = first; i < first + count; ++i) line.sizes.push_back(i * step);
  return line;
}

std::optional<SizeLine> choose_line(const Variable& variable, std::int64_t largest_step) {
  for (std::int64_t count = wanted_sizes; count >= least_sizes; --count)
    for (const std::int64_t step : divisors(variable.start))
      if (step <= largest_step && step % variable.round == 0)
        if (std::optional<SizeLine> line = line_of(variable, step, count)) return line;
  return std::nullopt;
}

}  // namespace

const std::vector<std::int64_t>* SizeSamples::at(const Sizes& sizes) {
  if (!known_.contains(sizes)) {
    try {
      known_[sizes] = measure_(sizes);
    } catch (const Error& error) {
      known_[sizes] = std::nullopt;
      refused_.push_back({sizes, error.summary(unspelled)});
    }
  }
  const auto& found = known_[sizes];
  return found ? &*found : nullptr;
}

const std::vector<std::int64_t>& SizeSamples::required(const Sizes& sizes) {
  const auto found = known_.find(sizes);
  if (found == known_.end() || !found->second) known_[sizes] = measure_(sizes);
  return *known_[sizes];
}

SizeLine find_line(std::vector<Variable>& variables, std::size_t index, SizeSamples& samples) {
  Variable& variable = variables[index];
  Sizes point;
  for (const Variable& other : variables) point.push_back(other.start);
  std::int64_t largest_step = variable.start;
  for (int refusals = 0; refusals < most_refusals; ++refusals) {
    const std::optional<SizeLine> line = choose_line(variable, largest_step);
    if (!line) break;
    const auto refused = std::ranges::find_if(line->sizes, [&](std::int64_t size) {
      point[index] = size;
      return !samples.at(point);
    });
    if (refused == line->sizes.end()) return *line;
    if (*refused > variable.start)
      variable.most = *refused - 1;
    else
      largest_step = line->step - 1;
  }
  throw Error(
      SettingRef{"symbolic", variable.name},
      fmt::format(
          "no formula follows from fewer than {} sizes, and the model takes no more near {}",
          least_sizes, variable.start),
      samples.refused().empty() ? fmt::format("Leave it out, or start elsewhere: {}.",
                                              setting("sizes", variable.name + "=128"))
                                : samples.refused().back().reason);
}

}  // namespace symprof::plan
