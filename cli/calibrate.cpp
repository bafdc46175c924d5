// symprof calibrate: a device file from kernels measured on the device.
#include <fmt/format.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <memory>
#include <utility>

#include "base/error.h"
#include "cli/command.h"
#include "cli/option_group.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "report/measure/calibration.h"
#include "session/devices.h"
#include "session/measure/calibrate.h"

namespace symprof::cli {
namespace calibrate_command {
namespace {

struct CalibrateText {
  CalibrationTexts question;
  std::string like, name;
  OutputOptions output;
};

std::atomic<bool> is_interrupted = false;

/// The first Ctrl-C ends the measurement, which is fitted then; the second ends the program.
void end_measurement(int) {
  is_interrupted = true;
  std::signal(SIGINT, SIG_DFL);
}

int run(const CalibrateText& text) {
  if (text.output.file.empty())
    throw Error("-o", "there is no file for the device.", "Name one that ends in .json.");
  check_output(text.output);
  const std::string& measurements = text.question.measurements;
  if (!measurements.empty()) check_output({.file = measurements});
  CalibrationQuestion question = read_calibration(text.question);
  question.is_stopped = [] { return is_interrupted.load(); };
  std::signal(SIGINT, end_measurement);
  auto found = measure_known_kernels(question, show_progress_of(text.output));
  std::signal(SIGINT, SIG_DFL);
  if (const int* code = std::get_if<int>(&found)) return *code;
  const measure::Calibration calibration = std::get<measure::Calibration>(std::move(found));
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
}  // namespace calibrate_command

Run add_calibrate(CLI::App& app) {
  using namespace calibrate_command;
  const auto text = std::make_shared<CalibrateText>();
  app.description("A device file from kernels measured on this machine.");
  app.footer(
      "Measures those kernels first whose time is least known. Ctrl-C ends it early: what was\n"
      "measured is fitted.\n\n"
      "Examples:\n"
      "  symprof calibrate --device cpu -o cpu.json\n"
      "  symprof profile resnet50.pt2 --device cpu.json --time\n"
      "  symprof calibrate --device cuda --minutes 5 --measurements kernels.json -o my_gpu.json");
  const OptionGroup group(app, "What is asked");
  group.add("--device", text->question.device, "DEVICE",
            "Where kernels run: cpu (the default), cuda or cuda:N");
  group.add("--minutes", text->question.minutes, "N",
            "Minutes to measure (default 2; 0 = refit existing measurements)");
  group.add("--measurements", text->question.measurements, "FILE",
            "Kernels and their times: read if the file exists, and updated");
  group.add("--like", text->like, "DEVICE",
            "Base device for values that are not measured (default: the one with the GPU's name)");
  group.add("--name", text->name, "NAME", "Name of the device (default: the name of its file)");
  add_output_options(app, text->output);
  return [text] { return run(*text); };
}

}  // namespace symprof::cli
