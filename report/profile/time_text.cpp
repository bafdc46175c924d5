#include "report/profile/time_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "report/profile/names.h"
#include "report/write/format_number.h"

namespace symprof::report {
namespace {

std::string per_second(double count, double us, std::string_view unit) {
  return format_count(std::llround(count / us * 1e6), unit) + "/s";
}

std::string percent_of(double part, double whole) {
  return fmt::format("{:.1f} %", whole > 0 ? 100 * part / whole : 0.0);
}

/// "12.30 ms (10.51 ms to 14.40 ms in nine of ten), device busy for 12.00 ms, idle for 0.30 ms"
std::string step_time_text(const StepTime& time) {
  std::string text =
      fmt::format("{}{} ({} to {} in nine of ten), {}", time.unknown_calls > 0 ? "> " : "",
                  format_time(time.step_us), format_time(time.low_us), format_time(time.high_us),
                  name(time.launch));
  text += fmt::format(": forward {}, backward {}", format_time(time.forward_us),
                      format_time(time.backward_us));
  if (time.optimizer_us > 0) text += fmt::format(", optimizer {}", format_time(time.optimizer_us));
  return text;
}

/// The host's line: which of the two waits.
std::string host_text(const StepTime& time) {
  if (time.launch == LaunchKind::graph)
    return fmt::format("{} launches in one graph", group_digits(time.launches));
  return fmt::format("{} for {} launches; the device is idle for {} of the step",
                     format_time(time.host_us), group_digits(time.launches),
                     percent_of(time.idle_us, time.step_us));
}

std::string communication_text(const StepTime& time) {
  return fmt::format("{}, of which computation waits for {} ({} of the step)",
                     format_time(time.communication_us), format_time(time.exposed_us),
                     percent_of(time.exposed_us, time.step_us));
}

std::string pipeline_text(const PipelineTime& pipeline) {
  return fmt::format("{} for all microbatches; ranks wait for {} of it on average, this one for {}",
                     format_time(pipeline.makespan_us), percent_of(pipeline.bubble, 1),
                     percent_of(pipeline.idle_us, pipeline.makespan_us));
}

std::string rates_text(const StepTime& time, const Totals& totals) {
  std::string text;
  if (time.samples)
    text += per_second(static_cast<double>(*time.samples), time.step_us, "samples") + ", ";
  if (time.tokens)
    text += per_second(static_cast<double>(*time.tokens), time.step_us, "tokens") + ", ";
  text += per_second(static_cast<double>(totals.hardware_flops), time.step_us, "FLOPs");
  text += fmt::format(" in products: {} of their types' peaks (MFU)",
                      percent_of(time.model_peak_us, time.step_us));
  if (time.peak_us > time.model_peak_us)
    text += fmt::format(", {} with recomputation (HFU)", percent_of(time.peak_us, time.step_us));
  return text;
}

/// "memory 51.2 %, arithmetic 40.0 %", the longest first.
std::string limits_text(const Profile& profile) {
  std::array<std::int64_t, 7> sums{};
  for (const NodeProfile& node : profile.nodes)
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += node.figures.times.limited_ns[i];
  std::vector<std::pair<std::int64_t, std::size_t>> order;
  order.reserve(sums.size());
  for (std::size_t i = 0; i < sums.size(); ++i)
    if (sums[i] > 0) order.emplace_back(-sums[i], i);
  std::ranges::sort(order);
  std::string text;
  for (const auto& [time, limit] : order)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ",
                        profile::name(static_cast<profile::Limit>(limit)),
                        percent_of(static_cast<double>(-time), profile.time->busy_us() * 1e3));
  return text + " of the busy time";
}

std::string basis_text(const StepTime& time) {
  if (time.data_sheet_us <= 0) return "all of it calibrated on measurements of this device";
  return fmt::format("{} of it from the data sheet and other devices' measurements",
                     percent_of(time.data_sheet_us, time.busy_us()));
}

std::string unknown_text(const StepTime& time) {
  std::string ops;
  for (const std::string& op : time.unknown_ops) ops += (ops.empty() ? "" : ", ") + op;
  return fmt::format("{} call{} excluded from totals, their time is unknown: {}",
                     group_digits(time.unknown_calls), time.unknown_calls == 1 ? " is" : "s are",
                     ops);
}

}  // namespace

void add_time_lines(std::vector<FooterLine>& lines, const Profile& profile) {
  const StepTime& time = *profile.time;
  lines.push_back({"time", step_time_text(time)});
  lines.push_back({"host", host_text(time)});
  if (time.communication_us > 0) lines.push_back({"collectives", communication_text(time)});
  if (time.pipeline) lines.push_back({"pipeline", pipeline_text(*time.pipeline)});
  if (time.step_us > 0) lines.push_back({"rates", rates_text(time, profile.totals)});
  if (time.busy_us() > 0) lines.push_back({"limits", limits_text(profile)});
  lines.push_back({"basis", basis_text(time)});
  if (time.unknown_calls > 0) lines.push_back({"not timed", unknown_text(time), Emphasis::alert});
}

}  // namespace symprof::report
