#include "session/time_curves.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"
#include "plan/fit.h"
#include "session/session.h"

namespace symprof {
namespace {

profile::Limit mostly(const Profile& profile) {
  const StepTime& time = *profile.time;
  if (time.host_us > time.busy_us()) return profile::Limit::host;
  std::array<std::int64_t, std::tuple_size_v<decltype(RowTimes::limited_ns)>> sums{};
  for (const NodeProfile& node : profile.nodes)
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += node.figures.times.limited_ns[i];
  return static_cast<profile::Limit>(std::ranges::max_element(sums) - sums.begin());
}

TimedSize timed(const Profile& profile) {
  const StepTime& time = *profile.time;
  TimedSize step{.step_us = time.step_us,
                 .low_us = time.low_us,
                 .high_us = time.high_us,
                 .host_us = time.host_us,
                 .busy_us = time.busy_us(),
                 .limit = mostly(profile)};
  for (const NodeProfile& node : profile.nodes)
    if (node.figures.time_ns > 0)
      step.us_by_op[profile.recording.nodes[static_cast<std::size_t>(node.node)].op] +=
          static_cast<double>(node.figures.time_ns) / 1e3;
  return step;
}

double us_of(const TimedSize& step, const std::string& op) {
  const auto found = step.us_by_op.find(op);
  return found == step.us_by_op.end() ? 0 : found->second;
}

class CurveOfTime {
 public:
  CurveOfTime(const SizedModel& model, std::size_t variable) : model_(model) {
    result_.variable = variable;
  }

  TimeCurve run() {
    const plan::MeasureSize measure = [&](std::int64_t size) { return step_us(size); };
    result_.curve = plan::find_curve(model_.variables[result_.variable], measure);
    const auto& pieces = result_.curve.pieces;
    for (std::size_t i = 0; i + 1 < pieces.size(); ++i)
      result_.breaks.push_back(break_between(pieces[i], pieces[i + 1]));
    return std::move(result_);
  }

 private:
  std::optional<double> step_us(std::int64_t size) try {
    plan::Sizes sizes;
    for (const plan::Variable& variable : model_.variables) sizes.push_back(variable.start);
    sizes[result_.variable] = size;
    const Profile profile = model_.profile_at(sizes);
    if (!fits(profile)) {
      result_.end = CurveEnd::memory;
      return std::nullopt;
    }
    return (result_.steps[size] = timed(profile)).step_us;
  } catch (const Error& error) {
    if (result_.steps.empty()) throw;
    result_.end = CurveEnd::refused;
    result_.reason = error.summary(unspelled);
    return std::nullopt;
  }

  /// True where the device's memory is not known, too.
  bool fits(const Profile& profile) const {
    if (model_.settings.step.device.memory_bytes <= 0) return true;
    const plan::Budget budget = budget_of(model_.settings.step.device, model_.settings.loop);
    return profile.totals.peak_allocated_bytes <= budget.available_bytes();
  }

  /// Behind a jump the next size is compared; behind a bend, where the next piece leads.
  CurveBreak break_between(const plan::CurvePiece& piece, const plan::CurvePiece& next) const {
    const TimedSize& first = result_.steps.at(piece.first);
    const TimedSize& last = result_.steps.at(piece.last);
    const std::int64_t there = piece.jumps ? next.first : next.last;
    const TimedSize& step = result_.steps.at(there);
    const double length = static_cast<double>(piece.last - piece.first);
    const double further = static_cast<double>(there - piece.last);
    CurveBreak found;
    for (const auto& [op, us] : step.us_by_op) {
      const double here = us_of(last, op);
      const double slope = length > 0 ? (here - us_of(first, op)) / length : 0;
      const double change = us - (here + slope * further);
      if (std::abs(change) > std::abs(found.us)) found = {op, change};
    }
    return found;
  }

  const SizedModel& model_;
  TimeCurve result_;
};

}  // namespace

std::vector<TimeCurve> find_time_curves(const SizedModel& model) {
  std::vector<TimeCurve> curves;
  for (std::size_t i = 0; i < model.variables.size(); ++i)
    curves.push_back(CurveOfTime(model, i).run());
  return curves;
}

}  // namespace symprof
