// symprof calibrate: a device file from kernels measured on the device.
#include <fmt/format.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <utility>

#include "base/cuda_kernels.h"
#include "base/error.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "measure/gpu.h"
#include "report/measure/calibration.h"
#include "session/calibrate.h"
#include "session/devices.h"
#include "session/measure/apart.h"
#include "session/measure/real_device.h"
#include "session/read_text.h"

namespace symprof::cli {
namespace {

struct CalibrateText {
  std::string device = "cpu", minutes = "2", measurements, like, name;
  OutputOptions output;
};

std::atomic<bool> is_interrupted = false;

/// The first Ctrl-C ends the measurement, which is fitted then; the second ends the program.
void end_measurement(int) {
  is_interrupted = true;
  std::signal(SIGINT, SIG_DFL);
}

double parse_minutes(const std::string& text) {
  double minutes = -1;
  std::size_t end = 0;
  try {
    minutes = std::stod(text, &end);
  } catch (const std::exception&) {
    end = std::string::npos;
  }
  constexpr double most = 24 * 60;
  if (end == text.size() && minutes >= 0 && minutes <= most) return minutes;
  throw Error("--minutes", "'" + text + "' is no number of minutes up to a day.",
              "2 is usual; 0 only refits what --measurements has.");
}

measure::Calibration read_measurements(const std::string& path) {
  if (path.empty() || !std::filesystem::exists(path)) return {};
  std::ifstream file(path);
  return measure::parse_calibration({std::istreambuf_iterator<char>(file), {}}, path);
}

/// Two devices' kernels in one file would be fitted as one device's.
void check_is_same(const measure::Calibration& known, const std::string& device,
                   const std::string& path) {
  const std::string& other = known.facts.device;
  if (known.kernels.empty() || other.empty() || (other == "cpu") == (device == "cpu")) return;
  throw Error(path, "was measured on " + other + ", and " + device + " is asked for",
              "Give each device a file of its own.");
}

CalibrationQuestion question_of(const CalibrateText& text) {
  CalibrationQuestion question{.device = parse_real_device(text.device),
                               .minutes = parse_minutes(text.minutes),
                               .known = read_measurements(text.measurements),
                               .progress = {},
                               .is_stopped = [] { return is_interrupted.load(); },
                               .keep = {}};
  check_is_same(question.known, question.device, text.measurements);
  if (!text.measurements.empty())
    question.keep = [file = text.measurements](const measure::Calibration& now) {
      write_output({.file = file, .quiet = true}, measure::to_json(now), Readers::programs);
    };
  return question;
}

measure::Calibration measured(CalibrationQuestion question, const OutputOptions& output) {
  ProgressBar progress(output);
  question.progress = progress.callback();
  return measure_kernels(question);
}

/// On a GPU measures in a child process, as `symprof measure` does: the real CUDA stays there.
std::variant<measure::Calibration, int> measured_apart(const CalibrationQuestion& question,
                                                       const OutputOptions& output) {
  if (question.device == "cpu") return measured(question, output);
  Apart found = run_apart([&] {
    want_cuda_kernels();
    return measure::to_json(measured(question, output));
  });
  if (const int* code = std::get_if<int>(&found)) return *code;
  return measure::parse_calibration(std::get<std::string>(found), "the process that measures");
}

int run(const CalibrateText& text) {
  if (text.output.file.empty())
    throw Error("-o", "there is no file for the device.", "Name one that ends in .json.");
  check_output(text.output);
  if (!text.measurements.empty()) check_output({.file = text.measurements});
  const CalibrationQuestion question = question_of(text);
  measure::Calibration calibration = question.known;
  if (question.minutes > 0) {
    std::signal(SIGINT, end_measurement);
    auto found = measured_apart(question, text.output);
    std::signal(SIGINT, SIG_DFL);
    if (const int* code = std::get_if<int>(&found)) return *code;
    calibration = std::get<measure::Calibration>(std::move(found));
    if (question.keep) question.keep(calibration);
  }
  if (calibration.kernels.empty())
    throw Error("--minutes", "nothing was measured.", "Give it more time.");
  const DeviceSpec like =
      text.like.empty() ? device_like(calibration.facts) : find_device(text.like);
  const std::string name =
      text.name.empty() ? std::filesystem::path(text.output.file).stem().string() : text.name;
  const CalibratedDevice device = fit_device(calibration, like, name);
  write_output(text.output, device.json, Readers::programs);
  if (text.output.quiet) return done;
  fmt::memory_buffer out;
  report::write_calibration(out, device, calibration.facts, layout_of(OutputOptions{}));
  fmt::format_to(std::back_inserter(out), "{} is a device for --device\n", text.output.file);
  write_output({}, {out.data(), out.size()}, Readers::people);
  return done;
}

}  // namespace

Run add_calibrate(CLI::App& app) {
  const auto text = std::make_shared<CalibrateText>();
  app.description("A device file from kernels measured on this machine.");
  app.footer(
      "Measures those kernels first whose time is least known. Ctrl-C ends it early: what was\n"
      "measured is fitted.\n\n"
      "Examples:\n"
      "  symprof calibrate --device cpu -o cpu.json\n"
      "  symprof profile resnet50.pt2 --device cpu.json --time\n"
      "  symprof calibrate --device cuda --minutes 5 --measurements kernels.json -o my_gpu.json");
  const std::string group = "What is asked";
  const auto add = [&](const char* option, std::string& value, const char* type, const char* help) {
    app.add_option(option, value, help)->type_name(type)->group(group);
  };
  add("--device", text->device, "DEVICE", "Where kernels run: cpu (the default), cuda or cuda:N");
  add("--minutes", text->minutes, "N",
      "Minutes to measure (default 2; 0 = refit existing measurements)");
  add("--measurements", text->measurements, "FILE",
      "Kernels and their times: read if the file exists, and updated");
  add("--like", text->like, "DEVICE",
      "Base device for values that are not measured (default: the one with the GPU's name)");
  add("--name", text->name, "NAME", "Name of the device (default: the name of its file)");
  add_output_options(app, text->output);
  return [text] { return run(*text); };
}

}  // namespace symprof::cli
