// symprof fit: does a training loop fit into a device, with what margin, and which changes make it
// fit.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/error.h"
#include "cli/command.h"
#include "cli/fit_run.h"
#include "cli/formats.h"
#include "cli/output.h"
#include "cli/profile_formats.h"
#include "cli/progress.h"
#include "cli/setting_options.h"
#include "report/plan/fit.h"
#include "report/profile/measured_memory.h"
#include "report/write/option_spelling.h"
#include "session/fit_answer.h"
#include "session/read_job.h"
#include "session/read_text.h"
#include "session/session.h"

namespace symprof::cli {
namespace fit_command {
namespace {

struct FitText {
  SettingTexts model;
  std::string largest, price, samples, deadline, measured_memory, format;
  bool with_plans = false;
  RunText run;
  OutputOptions output;
};

/// Throws Error where there is no one prediction, or no place to print it.
void check_measured_memory(const FitText& text, const FitQuestion& question, Format format) {
  if (text.measured_memory.empty()) return;
  if (question.devices.size() > 1)
    throw Error("--measured-memory", "it was measured on one device.",
                "Name that one: --device a100-80g.");
  if (format != Format::table)
    throw Error("--measured-memory", "--format json of fit has no place for a measured history.",
                "symprof profile --format json has it.");
}

void write_measured_memory(fmt::memory_buffer& out, Session& session, const Settings& settings,
                           const FitText& text) {
  const PreparedModel model = session.prepare(settings);
  const MeasuredMemory both =
      measured_memory(text.measured_memory, session.profile(model), model.settings);
  out.push_back('\n');
  report::write_measured_memory(out, both, report::top_differences, layout_of(text.output));
}

/// Throws Error for what is not asked of a run whose batches differ.
void check_run(const FitText& text, const FitQuestion& question) {
  const auto refuse = [](const char* name) {
    throw Error(name, "is not answered together with --lengths.", "Leave one of them out.");
  };
  if (question.devices.size() > 1)
    throw Error("--device", "--lengths is answered for one device.",
                "Name that one: --device a100-80g.");
  if (text.with_plans) refuse("--plan");
  if (question.job.is_asked()) refuse("--price and --samples");
  if (!text.measured_memory.empty()) refuse("--measured-memory");
}

int run_over_lengths(const FitText& text, const FitQuestion& question, Settings settings,
                     Format format) {
  check_run(text, question);
  check_output(text.output);
  if (!question.devices.empty()) settings.step.device = question.devices.front();
  Session session(text.model.model);
  return fit_run(session, settings, text.run, text.largest, format, text.output);
}

int run(const FitText& text) {
  SettingTexts texts = text.model;
  const FitQuestion question{.devices = take_devices(texts),
                             .largest = text.largest,
                             .with_plans = text.with_plans,
                             .job = settings::read_job({text.price, text.samples, text.deadline})};
  Settings settings = read_settings(texts);
  const Format format = read_format(Verb::fit, text.format);
  if (!text.run.lengths.empty()) return run_over_lengths(text, question, settings, format);
  refuse_run_options(text.run);
  if (format == Format::csv)
    throw Error("--format", "csv has a line for each pass of a run.", "Add --lengths FILE.");
  check_measured_memory(text, question, format);
  check_output(text.output);
  ProgressBar progress(text.output);
  settings.step.progress = progress.callback();
  Session session(texts.model);
  const FitAnswer answer = session.fit(settings, question);
  fmt::memory_buffer out;
  if (format == Format::json)
    report::write_fit_json(out, answer.reports, answer.job, answer.settings,
                           report::spell_as_option);
  else
    report::write_fit(out, answer.reports, answer.job, answer.settings.step,
                      layout_of(text.output));
  if (!text.measured_memory.empty()) {
    if (question.devices.size() == 1) settings.step.device = question.devices.front();
    write_measured_memory(out, session, settings, text);
  }
  progress.clear();
  write_result(text.output, out, format);
  const bool fits_all = std::ranges::all_of(
      answer.reports, [](const plan::FitReport& report) { return report.fit.fits(); });
  return fits_all ? done : answer_is_no;
}

}  // namespace
}  // namespace fit_command

Run add_fit(CLI::App& app) {
  using namespace fit_command;
  const auto text = std::make_shared<FitText>();
  app.description("Does a training loop fit into a device, and with what margin.");
  app.footer(
      "Exit code 0: it fits into every device that was named; 1: it does not.\n\n"
      "Examples:\n"
      "  symprof fit gpt2.pt2 --optimizer adamw --device a100-40g\n"
      "  symprof fit vit_b_16.onnx --set batch=64 --max batch\n"
      "  symprof fit gpt2.pt2 --device a100-40g,h200,l40s\n"
      "  symprof fit gpt2.pt2 --device all --price prices.json --samples 1e7 --deadline 3d\n"
      "  symprof fit llama_7b.pt2 --optimizer adamw --alloc-conf expandable_segments:True\n"
      "  symprof fit encoder.pt2 --lengths lengths.csv --length-dim x.1 --batch-by tokens=8192");
  add_setting_options(app, text->model, Verb::fit);
  app.get_option("--device")
      ->description(
          "Names from `symprof devices` or device files (.json), with commas between; or all");
  app.get_option("--context")
      ->description(
          "Device memory of CUDA's context and of other programs: 700MiB; default: 1GiB is set "
          "aside");
  const OptionGroup group(app, "What is asked");
  group.add("--max", text->largest, "NAME",
            "The largest size of this dimension (as --set names it, or kv-cache) that fits; with "
            "--lengths: tokens or samples, what --batch-by counts");
  group.add_flag("--plan", text->with_plans,
                 "With --max: also the largest size that fits with a checkpoint plan of its own");
  group.add("--price", text->price, "FILE",
            "Price per hour of each device, as JSON (docs/guide/rent.md); with times, at the "
            "largest batch that fits");
  group.add("--samples", text->samples, "N", "Number of samples to process: 1e6");
  group.add("--deadline", text->deadline, "TIME", "Time limit for --samples: 3d, 12h or 90min");
  group.add("--measured-memory", text->measured_memory, "SNAPSHOT",
            "A memory snapshot of this step on a GPU: its requests and peaks beside the predicted "
            "ones");
  add_format_option(group, text->format, Verb::fit);
  add_run_options(app, text->run);
  add_output_options(app, text->output);
  return [text] { return run(*text); };
}

}  // namespace symprof::cli
