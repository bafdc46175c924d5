#include "report/profile/measured_lines.h"

#include <algorithm>
#include <functional>
#include <map>

#include "measure/run.h"
#include "report/profile/names.h"
#include "report/write/format_number.h"

namespace symprof::report {
namespace {

using measure::Measurement;

std::string steps_text(const Measurement& measurement) {
  return measurement.steps == 1 ? "in one step" : fmt::format("a step (of {})", measurement.steps);
}

std::string measured_text(const Measurement& measurement) {
  std::string text =
      fmt::format("{} {}", format_time(static_cast<double>(measurement.total.total_ns()) / 1e3),
                  steps_text(measurement));
  const bool on_host = measurement.clock == Measurement::Clock::host;
  if (!measurement.device_name.empty()) text += " on " + measurement.device_name;
  const bool has_kernels = !on_host && (measurement.run == nullptr ||
                                        measurement.run->gpu->timing == measure::GpuTiming::cupti);
  text += on_host       ? ": operators on the host"
          : has_kernels ? ": kernels and copies"
                        : ": from event to event";
  if (has_kernels)
    text += fmt::format(", the device is busy for {}",
                        format_time(static_cast<double>(measurement.busy_ns) / 1e3));
  return text;
}

/// ": 43.2 % replayed by a CUDA graph, 1.0 % its call was not recorded": most first, all over 0.1
/// %.
std::string causes_text(const Measurement& measurement) {
  std::map<std::string, std::int64_t> sums;
  for (const measure::Unattributed& entry : measurement.unattributed)
    if (!entry.why.empty()) sums[entry.why] += entry.times.total_ns();
  std::vector<std::pair<std::int64_t, std::string>> causes;
  causes.reserve(sums.size());
  for (const auto& [why, ns] : sums) causes.emplace_back(ns, why);
  std::ranges::stable_sort(causes, std::greater());
  std::string text;
  for (const auto& [ns, why] : causes) {
    const double share =
        static_cast<double>(ns) / static_cast<double>(measurement.total.total_ns()) * 100;
    if (share >= 0.1) text += fmt::format("{} {:.1f} %: {}", text.empty() ? ";" : ",", share, why);
  }
  return text;
}

std::string found_text(const Measurement& measurement) {
  const auto total = static_cast<double>(measurement.total.total_ns());
  if (total <= 0) return "nothing took time";
  return fmt::format("{:.1f} % of that time found its node{}",
                     static_cast<double>(measurement.attributed_ns()) / total * 100,
                     causes_text(measurement));
}

}  // namespace

bool is_forward_alone(const Measurement& measurement) {
  return measurement.attributed_ns() > 0 && measurement.total.backward_ns == 0 &&
         measurement.total.optimizer_ns == 0;
}

std::vector<FooterLine> measured_lines(const Profile& profile, const Measurement& measurement,
                                       const DeviceSpec* estimated) {
  std::vector<FooterLine> lines = {{"measured", measured_text(measurement)},
                                   {"found", found_text(measurement)}};
  if (estimated != nullptr) lines.push_back({"estimate", fmt::format("for {}", name(*estimated))});
  const bool trains = std::ranges::any_of(
      profile.recording.calls, [](const CallRecord& call) { return is_in_backward(call.phase); });
  if (estimated != nullptr && trains && is_forward_alone(measurement))
    lines.push_back({"compared", "the forward pass alone: the recording has no backward pass"});
  if (measurement.unreadable_events > 0)
    lines.push_back({"left out",
                     fmt::format("{} events of {} have no time", measurement.unreadable_events,
                                 measurement.path),
                     Emphasis::alert});
  return lines;
}

}  // namespace symprof::report
