#include "session/measure/measure.h"

#include <fmt/format.h>

#include <utility>

#include "base/cuda_kernels.h"
#include "base/error.h"
#include "measure/gpu.h"
#include "measure/processor.h"
#include "session/devices.h"
#include "session/measure/apart.h"

namespace symprof {
namespace {

/// The device whose GPU the driver calls so; the default one where none is.
DeviceSpec device_called(const std::string& cuda_name) {
  for (const DeviceSpec& known : shipped_devices())
    if (!cuda_name.empty() && known.cuda_name == cuda_name) return known;
  return find_device(default_device);
}

/// Chooses the step and the device of the estimates: none for a CPU unless one is named.
void choose_estimate(Settings& settings, const MeasureQuestion& question, bool is_cpu) {
  if (!question.estimate.empty()) settings.step.device = find_device(question.estimate);
  const bool is_estimated = !is_cpu || !question.estimate.empty();
  if (settings.time && !is_estimated)
    throw Error(
        SettingRef{"time"}, "no shipped device has times of this CPU.",
        fmt::format("`symprof calibrate` makes a file with them, for {}.", setting("estimate")));
  if (is_estimated && !settings.time) settings.time.emplace();
}

/// Refuses a step larger than this machine's memory: the system would kill a process.
void check_memory(const Profile& profile) {
  const std::int64_t wanted = profile.memory.peak_allocated_bytes;
  const std::optional<std::int64_t> there = measure::available_memory_bytes();
  if (!there || wanted <= *there) return;
  constexpr double gib = 1024.0 * 1024 * 1024;
  throw Error(
      profile.recording.path,
      fmt::format("its step takes {:.2f} GiB, and {:.2f} GiB of this machine's memory are free.",
                  static_cast<double>(wanted) / gib, static_cast<double>(*there) / gib),
      fmt::format("A smaller batch ({}), {} or {} take less.", setting("sizes"),
                  setting("dtype", "bf16"), setting("mode", "inference")),
      ErrorKind::not_available);
}

Apart run_on_gpu(const MeasureQuestion& question, const Settings& settings) {
  return run_apart([&] {
    want_cuda_kernels();
    std::string run;
    question.show_progress([&](const Progress& progress) {
      Settings own = settings;
      own.step.progress = progress;
      Session session(question.model);
      run = measure::to_json(session.measure(session.prepare(own), question.options));
    });
    return run;
  });
}

MeasureAnswer answer_of(const MeasureQuestion& question, Settings settings,
                        const std::string& gpu_run) {
  MeasureAnswer answer;
  question.show_progress([&](const Progress& progress) {
    settings.step.progress = progress;
    Session session(question.model);
    const PreparedModel model = session.prepare(settings);
    answer.profile = session.profile(model);
    if (gpu_run.empty()) check_memory(answer.profile);
    answer.run = gpu_run.empty() ? session.measure(model, question.options)
                                 : measure::parse_run(gpu_run, question.model);
    answer.settings = model.settings;
    answer.settings.step.progress = nullptr;  // The progress bar is gone by then.
  });
  return answer;
}

}  // namespace

std::variant<MeasureAnswer, int> measure_model(const MeasureQuestion& question) {
  const std::string& device = question.options.device;
  Settings settings = question.settings;
  if (device == "cpu") {
    choose_estimate(settings, question, true);
    return answer_of(question, std::move(settings), {});
  }
  // CUDA does not survive the fork that the measurement needs.
  const Apart name = run_apart([&] { return measure::gpu::name_of(std::stoi(device.substr(5))); });
  if (const int* code = std::get_if<int>(&name)) return *code;
  settings.step.device = device_called(std::get<std::string>(name));
  choose_estimate(settings, question, false);
  const Apart run = run_on_gpu(question, settings);
  if (const int* code = std::get_if<int>(&run)) return *code;
  return answer_of(question, std::move(settings), std::get<std::string>(run));
}

}  // namespace symprof
