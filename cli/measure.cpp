// symprof measure: how long each node of a model takes where this program runs.
#include <fmt/format.h>

#include <memory>

#include "base/error.h"
#include "cli/command.h"
#include "cli/option_spelling.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/setting_options.h"
#include "report/format_number.h"
#include "report/json.h"
#include "report/measured.h"
#include "report/memory_text.h"
#include "session/read_text.h"
#include "session/session.h"

namespace symprof::cli {
namespace {

using report::By;
using settings::Named;

enum class Format { table, json };
constexpr Named<Format> formats[] = {{"table", Format::table}, {"json", Format::json}};
constexpr Named<By> groupings[] = {{"node", By::node}, {"module", By::module}, {"op", By::op}};

struct MeasureText {
  SettingTexts model;
  std::string steps = "10", save, by, depth, top, format = "table";
  OutputOptions output;
};

/// The device of a run is a real one, which the table of settings does not know.
void check_device(SettingTexts& texts) {
  SettingTexts::Given& device = texts.given.at("device");
  if (!device.is_given() || device.one == "cpu") {
    device.one = default_device;  // Which kernels a graph is prepared for.
    return;
  }
  if (device.one.starts_with("cuda"))
    throw Error(
        "--device " + device.one,
        "this program measures on the CPU alone: it has no reader of CUPTI's records.",
        "Give --device cpu, or record the step with torch.profiler on the GPU and read that "
        "with `symprof profile --measured`.",
        ErrorKind::not_available);
  throw Error("--device", "'" + device.one + "' is no device that a step can run on.",
              "It may be: cpu.");
}

report::RowOptions parse_rows(const MeasureText& text) {
  report::RowOptions rows;
  if (!text.depth.empty()) rows.depth = settings::parse_count(SettingRef{"depth"}, text.depth, 1);
  rows.by = rows.depth ? By::module : By::node;
  if (!text.by.empty()) rows.by = settings::choose(SettingRef{"by"}, text.by, groupings);
  if (rows.depth && rows.by != By::module)
    throw Error("--depth", "it counts module levels, and --by " + text.by + " has none.",
                "Leave one of them out, or write --by module.");
  if (!text.top.empty()) rows.top = settings::parse_count(SettingRef{"top"}, text.top, 1);
  return rows;
}

void write_step_line(fmt::memory_buffer& out, const measure::Run& run,
                     const report::Layout& layout) {
  report::write_line(
      out, "step",
      fmt::format("{} in the middle of {} steps (half of them from {} to {}), {} thread{}",
                  report::format_time(run.median_step_us()), run.step_us.size(),
                  report::format_time(run.lower_quartile_us()),
                  report::format_time(run.upper_quartile_us()), run.threads,
                  run.threads == 1 ? "" : "s"),
      layout);
}

int run(const MeasureText& text) {
  SettingTexts texts = text.model;
  check_device(texts);
  Settings settings = read_settings(texts);
  if (settings.time)
    throw Error(SettingRef{"time"}, "no device file has times of this CPU.", "Leave it out.");
  const report::RowOptions rows = parse_rows(text);
  const Format format = settings::choose(SettingRef{"format"}, text.format, formats);
  const measure::RunOptions options{.steps =
                                        settings::parse_count(SettingRef{"steps"}, text.steps, 1)};
  check_output(text.output);
  ProgressBar progress(text.output);
  settings.step.progress = progress.callback();
  Session session(texts.model);
  const PreparedModel model = session.prepare(settings);
  const Profile profile = session.profile(model);
  const measure::Run measured = session.measure(model, options);
  const measure::Measurement measurement = measure::measurement_of(measured, profile.recording);
  progress.clear();
  if (!text.save.empty())
    write_output({.file = text.save}, measure::to_json(measured), Readers::programs);
  fmt::memory_buffer out;
  if (format == Format::json) {
    report::write_json(out, profile, model.settings, spell_as_option, &measurement);
  } else {
    const report::Layout layout = layout_of(text.output);
    report::write_measured_table(out, profile, measurement, rows, model.settings.step.device,
                                 layout);
    write_step_line(out, measured, layout);
  }
  write_output(text.output, {out.data(), out.size()},
               format == Format::json ? Readers::programs : Readers::people);
  return done;
}

}  // namespace

Run add_measure(CLI::App& app) {
  const auto text = std::make_shared<MeasureText>();
  app.description("How long each node of a model takes where this program runs.");
  app.footer(
      "Weights and inputs are random numbers of the right shapes.\n\n"
      "Examples:\n"
      "  symprof measure resnet50.pt2 --device cpu --set batch=2 --by op\n"
      "  symprof measure gpt2.pt2 --optimizer adamw:single --steps 20 --save run.json\n"
      "  symprof profile gpt2.pt2 --optimizer adamw:single --measured run.json");
  add_setting_options(app, text->model);
  app.get_option("--device")->description("Where the step runs: cpu (the default)");
  const std::string group = "What is asked";
  const auto add = [&](const char* name, std::string& value, const char* type, const char* help) {
    app.add_option(name, value, help)->type_name(type)->group(group);
  };
  add("--steps", text->steps, "N", "Steps that are timed, after two of warm-up (10)");
  add("--save", text->save, "FILE", "Also writes the run, for `symprof profile --measured`");
  add("--by", text->by, "ROW", "A row for each node (the default), module or op");
  add("--depth", text->depth, "N", "Fold modules deeper than N levels (--by module)");
  add("--top", text->top, "N", "The first N rows; one more sums the others");
  add("--format", text->format, "FORMAT", "table or json");
  add_output_options(app, text->output);
  return [text] { return run(*text); };
}

}  // namespace symprof::cli
