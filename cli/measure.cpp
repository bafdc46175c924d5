// symprof measure: how long each node of a model takes where this program runs.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/cuda_kernels.h"
#include "base/error.h"
#include "cli/command.h"
#include "cli/option_spelling.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/setting_options.h"
#include "measure/gpu.h"
#include "report/json.h"
#include "report/measured.h"
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

/// The real device that is asked for, "cpu" or "cuda:N". In `texts` stands after that the one that
/// the estimate beside it is for.
std::string take_device(SettingTexts& texts) {
  SettingTexts::Given& given = texts.given.at("device");
  const std::string device = given.is_given() ? given.one : "cpu";
  given.one = default_device;  // Which kernels a graph is prepared for.
  if (device == "cpu") return device;
  const std::string number =
      device == "cuda" ? "0" : device.substr(std::min<std::size_t>(5, device.size()));
  if (!device.starts_with("cuda") || (device != "cuda" && !device.starts_with("cuda:")) ||
      number.empty() || number.find_first_not_of("0123456789") != std::string::npos ||
      number.size() > 2)
    throw Error("--device", "'" + device + "' is no device that a step can run on.",
                "It may be: cpu, cuda, cuda:N.");
  const std::string name = measure::gpu::name_of(std::stoi(number));
  for (const DeviceSpec& known : shipped_devices())
    if (!name.empty() && known.cuda_name == name) given.one = known.name;
  want_cuda_kernels();
  return "cuda:" + number;
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

int run(const MeasureText& text) {
  SettingTexts texts = text.model;
  const std::string device = take_device(texts);
  Settings settings = read_settings(texts);
  if (settings.time && device == "cpu")
    throw Error(SettingRef{"time"}, "no device file has times of this CPU.", "Leave it out.");
  if (device != "cpu" && !settings.time) settings.time.emplace();
  const report::RowOptions rows = parse_rows(text);
  const Format format = settings::choose(SettingRef{"format"}, text.format, formats);
  const measure::RunOptions options{
      .device = device, .steps = settings::parse_count(SettingRef{"steps"}, text.steps, 1)};
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
    report::write_measured_table(out, profile, measurement, rows, model.settings.step.device,
                                 layout_of(text.output));
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
      "  symprof measure resnet50.pt2 --device cuda --autocast bf16 --loss cross_entropy --top 20\n"
      "  symprof measure gpt2.pt2 --optimizer adamw:single --steps 20 --save run.json\n"
      "  symprof profile gpt2.pt2 --optimizer adamw:single --measured run.json");
  add_setting_options(app, text->model);
  app.get_option("--device")->description("Where the step runs: cpu (the default), cuda or cuda:N");
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
