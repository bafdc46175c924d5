// symprof measure: times of each node of a model on this machine.
#include <fmt/format.h>

#include <memory>
#include <utility>
#include <vector>

#include "base/error.h"
#include "cli/command.h"
#include "cli/formats.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/setting_options.h"
#include "report/profile/chrome_trace.h"
#include "report/profile/columns.h"
#include "report/profile/html.h"
#include "report/profile/json.h"
#include "report/profile/measured.h"
#include "report/profile/read_rows.h"
#include "report/write/option_spelling.h"
#include "session/devices.h"
#include "session/measure/measure.h"
#include "session/measure/real_device.h"
#include "session/read_text.h"

namespace symprof::cli {
namespace measure_command {
namespace {

constexpr settings::Named<measure::GpuTiming> timings[] = {{"cupti", measure::GpuTiming::cupti},
                                                           {"events", measure::GpuTiming::events}};

struct MeasureText {
  SettingTexts model;
  std::string steps = "10", timing = "cupti", estimate, save, trace, format;
  report::RowTexts rows;
  OutputOptions output;
};

/// The requested real device, "cpu" or "cuda:N". Replaces it in `texts` by the default device, for
/// which the graph is prepared.
std::string take_device(SettingTexts& texts) {
  SettingTexts::Given& given = texts.given.at("device");
  const std::string device = given.is_given() ? std::exchange(given.one, default_device) : "cpu";
  given.one = default_device;
  return parse_real_device(device);
}

void write_trace(const MeasureText& text, const MeasureAnswer& answer) {
  if (!answer.run.timeline)
    return warn(text.output, "--trace: not written, as CUPTI could not say when kernels ran.");
  fmt::memory_buffer out;
  report::write_chrome_trace(out, answer.profile, answer.settings.step.device, &answer.run);
  write_output({.file = text.trace}, {out.data(), out.size()}, Readers::programs);
}

void write(const MeasureText& text, const report::RowOptions& rows, Format format,
           const MeasureAnswer& answer) {
  const auto& [settings, profile, run] = answer;
  const measure::Measurement measurement = measure::measurement_of(run, profile.recording);
  if (!text.save.empty())
    write_output({.file = text.save}, measure::to_json(run), Readers::programs);
  if (!text.trace.empty()) write_trace(text, answer);
  fmt::memory_buffer out;
  if (format == Format::json)
    report::write_json(out, profile, settings, report::spell_as_option, &measurement);
  else if (format == Format::html)
    report::write_html(out, profile, settings.step, rows,
                       report::default_columns(settings.step.optimizer, settings.time.has_value()),
                       report::spell_as_option, &measurement);
  else
    report::write_measured_table(out, profile, measurement, rows, settings.step.device,
                                 layout_of(text.output));
  write_result(text.output, out, format);
}

measure::RunOptions parse_run_options(const MeasureText& text, const std::string& device) {
  const auto timing = settings::choose(SettingRef{"timing"}, text.timing, timings);
  if (!text.trace.empty() && timing == measure::GpuTiming::events)
    throw Error("--trace", "CUDA's events tell how long calls took, and not when kernels ran.",
                "Leave --timing events out.");
  return {.device = device,
          .gpu_timing = timing,
          .steps = settings::parse_count(SettingRef{"steps"}, text.steps, 1),
          .keeps_timeline = !text.trace.empty()};
}

int run(const MeasureText& text) {
  SettingTexts texts = text.model;
  const std::string device = take_device(texts);
  const report::RowOptions rows = report::read_rows(text.rows);
  const Format format = read_format(Verb::measure, text.format);
  const MeasureQuestion question{.model = texts.model,
                                 .settings = read_settings(texts),
                                 .estimate = text.estimate,
                                 .options = parse_run_options(text, device),
                                 .show_progress = show_progress_of(text.output)};
  for (const std::string& file : {text.output.file, text.save, text.trace})
    check_output({.file = file});
  const auto answer = measure_model(question);
  if (const int* code = std::get_if<int>(&answer)) return *code;
  write(text, rows, format, std::get<MeasureAnswer>(answer));
  return done;
}

}  // namespace
}  // namespace measure_command

Run add_measure(CLI::App& app) {
  using namespace measure_command;
  const auto text = std::make_shared<MeasureText>();
  app.description("Measures the time of each node of a model on this machine.");
  app.footer(
      "Weights and inputs are random numbers of the right shapes.\n\n"
      "Examples:\n"
      "  symprof measure resnet50.pt2 --device cpu --set batch=2 --estimate cpu.json --by op\n"
      "  symprof measure resnet50.pt2 --device cuda --autocast bf16 --loss cross_entropy --top 20\n"
      "  symprof measure gpt2.pt2 --optimizer adamw:single --steps 20 --save run.json\n"
      "  symprof profile gpt2.pt2 --optimizer adamw:single --measured run.json");
  add_setting_options(app, text->model, Verb::measure);
  app.get_option("--device")->description("Where the step runs: cpu (the default), cuda or cuda:N");
  const OptionGroup group(app, "What is asked");
  group.add("--steps", text->steps, "N", "Timed steps, after two warm-up steps (10)");
  group.add("--timing", text->timing, "HOW",
            "On a GPU: cupti, each kernel (the default), or events, each call by CUDA's events");
  group.add(
      "--estimate", text->estimate, "DEVICE",
      "Device of the estimates beside: a name or a file of `symprof calibrate` (default: the GPU's "
      "own)");
  group.add("--save", text->save, "FILE", "Also writes the run, for `symprof profile --measured`");
  group.add("--trace", text->trace, "FILE",
            "Also writes the timeline of a step, predicted and measured, for ui.perfetto.dev");
  group.add("--by", text->rows.by, "ROW", "A row for each node (the default), module or op");
  group.add("--depth", text->rows.depth, "N", "Fold modules deeper than N levels (--by module)");
  group.add("--top", text->rows.top, "N", "The first N rows; one more sums the others");
  add_format_option(group, text->format, Verb::measure);
  add_output_options(app, text->output);
  return [text] { return run(*text); };
}

}  // namespace symprof::cli
