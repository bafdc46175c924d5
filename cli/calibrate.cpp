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
#include "session/traced_kernels.h"

namespace symprof::cli {
namespace calibrate_command {
namespace {

struct CalibrateText {
  CalibrationTexts question;
  std::vector<std::string> traces;
  std::string like, name;
  OutputOptions output;
};

std::atomic<bool> is_interrupted = false;

/// The first Ctrl-C ends the measurement, which is fitted then; the second ends the program.
void end_measurement(int) {
  is_interrupted = true;
  std::signal(SIGINT, SIG_DFL);
}

std::string name_of(const CalibrateText& text) {
  return text.name.empty() ? std::filesystem::path(text.output.file).stem().string() : text.name;
}

void write_report(const CalibrateText& text, const CalibratedDevice& device,
                  const measure::DeviceFacts& facts, const TracedKernels* traced) {
  if (text.output.quiet) return;
  fmt::memory_buffer out;
  report::write_calibration(out, device, facts, layout_of(OutputOptions{}));
  if (traced != nullptr) report::write_traced_time(out, *traced);
  fmt::format_to(std::back_inserter(out), "{} is a device for --device\n", text.output.file);
  write_output({}, {out.data(), out.size()}, Readers::people);
}

int fit_traces(const CalibrateText& text) {
  const std::vector<measure::Trace> traces = read_traces(text.traces);
  const measure::DeviceFacts facts = device_of_traces(traces);
  const DeviceSpec like = text.like.empty() ? device_like(facts) : find_device(text.like);
  const TracedKernels traced = kernels_of_traces(traces, like);
  const CalibratedDevice device = fit_device(traced.calibration, like, name_of(text));
  write_output(text.output, device.json, Readers::programs);
  write_report(text, device, facts, &traced);
  return done;
}

int measure_and_fit(const CalibrateText& text) {
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
  const CalibratedDevice device = fit_device(calibration, like, name_of(text));
  write_output(text.output, device.json, Readers::programs);
  write_report(text, device, calibration.facts, nullptr);
  return done;
}

int run(const CalibrateText& text) {
  if (text.output.file.empty())
    throw Error("-o", "there is no file for the device.", "Name one that ends in .json.");
  check_output(text.output);
  return text.traces.empty() ? measure_and_fit(text) : fit_traces(text);
}

}  // namespace
}  // namespace calibrate_command

Run add_calibrate(CLI::App& app) {
  using namespace calibrate_command;
  const auto text = std::make_shared<CalibrateText>();
  app.description("A device file from kernels measured on this machine, or traced on any.");
  app.footer(
      "Measures those kernels first whose time is least known. Ctrl-C ends it early: what was\n"
      "measured is fitted.\n\n"
      "Examples:\n"
      "  symprof calibrate --device cpu -o cpu.json\n"
      "  symprof profile resnet50.pt2 --device cpu.json --time\n"
      "  symprof calibrate --device cuda --minutes 5 --measurements kernels.json -o my_gpu.json\n"
      "  symprof calibrate --from trace.json.gz -o my_gpu.json");
  const OptionGroup group(app, "What is asked");
  CLI::Option* measured[] = {
      group.add("--device", text->question.device, "DEVICE",
                "Where kernels run: cpu (the default), cuda or cuda:N"),
      group.add("--minutes", text->question.minutes, "N",
                "Minutes to measure (default 2; 0 = refit existing measurements)"),
      group.add("--measurements", text->question.measurements, "FILE",
                "Kernels and their times: read if the file exists, and updated")};
  CLI::Option* from =
      group.add("--from", text->traces, "TRACE",
                "Instead of measuring, fit kernels of a program that torch.profiler traced with "
                "record_shapes=True; may be given several times");
  from->allow_extra_args(false);
  for (CLI::Option* one : measured) from->excludes(one);
  group.add("--like", text->like, "DEVICE",
            "Base device for values that are not measured (default: the one with the GPU's name)");
  group.add("--name", text->name, "NAME", "Name of the device (default: the name of its file)");
  add_output_options(app, text->output);
  return [text] { return run(*text); };
}

}  // namespace symprof::cli
