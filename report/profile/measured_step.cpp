#include "report/profile/measured_step.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/write/format_number.h"

namespace symprof::report {
namespace {

using measure::DeviceRun;
using measure::GpuTiming;
using measure::Run;

std::string time_of(std::int64_t ns) { return format_time(static_cast<double>(ns) / 1e3); }

std::string step_text(const Run& run) {
  std::string text =
      fmt::format("{} in the middle of {} steps (half of them from {} to {})",
                  format_time(run.median_step_us()), run.step_us.size(),
                  format_time(run.lower_quartile_us()), format_time(run.upper_quartile_us()));
  if (!run.gpu) text += fmt::format(", {} thread{}", run.threads, run.threads == 1 ? "" : "s");
  return text;
}

std::string estimate_text(const Run& run, const StepTime& time) {
  std::string text = fmt::format("{} (nine of ten between {} and {}); measured by estimated {:.2f}",
                                 format_time(time.step_us), format_time(time.low_us),
                                 format_time(time.high_us), run.median_step_us() / time.step_us);
  if (time.unknown_calls > 0)
    text += fmt::format("; {} calls have no estimate", time.unknown_calls);
  return text;
}

std::string device_text(const DeviceRun& gpu) {
  return fmt::format(
      "{} kernels and copies; from the first to the last {}, of which {} idle; overlap {}; "
      "a kernel begins {} after its call in the middle",
      gpu.works, time_of(gpu.span_ns), time_of(gpu.span_ns - gpu.busy_ns),
      time_of(gpu.sum_ns - gpu.busy_ns), time_of(gpu.median_delay_ns));
}

std::string host_text(const Recording& recording, const Run& run) {
  const double host = run.gpu->median_host_us(), step = run.median_step_us();
  const auto of_each = [&](std::size_t count) {
    return format_time(host / static_cast<double>(std::max<std::size_t>(1, count)));
  };
  return fmt::format("{} to ask for a step, {} for each call, {} for each kernel: {}",
                     format_time(host), of_each(recording.calls.size()),
                     of_each(static_cast<std::size_t>(run.gpu->works)),
                     host > 0.95 * step ? "the device waits for it" : "it is ahead of the device");
}

std::string peak_line(const char* what, std::int64_t measured, std::int64_t estimated) {
  return fmt::format(
      "{} {} (estimated {}, {:+.2f} %)", format_bytes(measured), what, format_bytes(estimated),
      measured == 0
          ? 0.0
          : 100.0 * static_cast<double>(estimated - measured) / static_cast<double>(measured));
}

std::string driver_text(const Run& run) {
  const DeviceRun& gpu = *run.gpu;
  std::string text = fmt::format("PyTorch {}", run.torch_version);
  if (!gpu.driver_version.empty()) text += ", driver " + gpu.driver_version;
  if (gpu.clock_hz) text += fmt::format(", {:.0f} MHz", *gpu.clock_hz / 1e6);
  if (gpu.power_watts) text += fmt::format(", {:.0f} W", *gpu.power_watts);
  return text;
}

void add_gpu_lines(const Profile& profile, const Run& run, std::vector<FooterLine>& lines) {
  const DeviceRun& gpu = *run.gpu;
  if (gpu.timing == GpuTiming::cupti) {
    lines.push_back({"device", device_text(gpu)});
    if (!gpu.host_us.empty()) lines.push_back({"host", host_text(profile.recording, run)});
    lines.push_back(
        {"recording", fmt::format("a step took {:.2f} times as long while it was recorded",
                                  gpu.median_recorded_us() / run.median_step_us())});
  } else {
    lines.push_back({"recording",
                     "by CUDA's events around each call, not kernel by kernel" +
                         (gpu.note.empty() ? "" : ": " + gpu.note),
                     gpu.note.empty() ? Emphasis::normal : Emphasis::alert});
  }
  if (gpu.dropped_records > 0)
    lines.push_back(
        {"lost", fmt::format("{} records of CUPTI", gpu.dropped_records), Emphasis::alert});
  lines.push_back({"peak", peak_line("allocated", gpu.peak_allocated_bytes,
                                     profile.memory.peak_allocated_bytes)});
  lines.push_back(
      {"", peak_line("reserved", gpu.peak_reserved_bytes, profile.memory.peak_reserved_bytes)});
  lines.push_back({"versions", driver_text(run)});
}

void write_gpu(JsonWriter& json, const DeviceRun& gpu) {
  const auto us = [&](std::string_view key, std::int64_t ns) {
    json.member(key, static_cast<double>(ns) / 1e3);
  };
  json.key("gpu");
  json.begin_object();
  json.member("source", std::string_view(gpu.timing == GpuTiming::cupti ? "cupti" : "events"));
  json.member("works", gpu.works);
  us("span_us", gpu.span_ns);
  us("overlap_us", gpu.sum_ns - gpu.busy_ns);
  us("median_delay_us", gpu.median_delay_ns);
  json.member("host_us", gpu.host_us.empty() ? std::nullopt : std::optional(gpu.median_host_us()));
  json.member("recorded_step_us", gpu.median_recorded_us());
  json.member("dropped_records", gpu.dropped_records);
  json.member("peak_allocated_bytes", gpu.peak_allocated_bytes);
  json.member("peak_reserved_bytes", gpu.peak_reserved_bytes);
  json.member("driver", std::string_view(gpu.driver_version));
  json.member("power_watts", gpu.power_watts);
  json.member("clock_hz", gpu.clock_hz);
  json.end_object();
}

}  // namespace

std::optional<std::string> others_text(std::optional<double> share) {
  // Threads of an operator wait for the slowest: other programs slow it down by more than their
  // share.
  constexpr double most = 0.05;
  if (share.value_or(0) < most) return std::nullopt;
  return fmt::format(
      "other programs took {:.0f} % of the processors' time meanwhile: times are too long",
      *share * 100);
}

std::vector<FooterLine> measured_step_lines(const Profile& profile, const Run& run) {
  std::vector<FooterLine> lines = {{"step", step_text(run)}};
  if (profile.time) lines.push_back({"estimated", estimate_text(run, *profile.time)});
  if (const auto others = others_text(run.others_share))
    lines.push_back({"others", *others, Emphasis::alert});
  if (run.gpu) add_gpu_lines(profile, run, lines);
  return lines;
}

void write_measured_step(JsonWriter& json, const Profile& profile, const Run* run) {
  if (run == nullptr) return json.null_member("run");
  json.key("run");
  json.begin_object();
  json.member("step_us", run->median_step_us());
  json.member("lower_quartile_us", run->lower_quartile_us());
  json.member("upper_quartile_us", run->upper_quartile_us());
  json.member("steps", static_cast<std::int64_t>(run->step_us.size()));
  json.member("threads", run->threads);
  json.member("torch", std::string_view(run->torch_version));
  json.member("others_share", run->others_share);
  json.member("estimated_step_us",
              profile.time ? std::optional(profile.time->step_us) : std::nullopt);
  run->gpu ? write_gpu(json, *run->gpu) : json.null_member("gpu");
  json.end_object();
}

}  // namespace symprof::report
