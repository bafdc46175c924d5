// symprof measure: how long each node of a model takes where this program runs.
#include <fmt/format.h>

#include <memory>
#include <utility>
#include <vector>

#include "base/cuda_kernels.h"
#include "base/error.h"
#include "cli/apart.h"
#include "cli/command.h"
#include "cli/option_spelling.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/real_device.h"
#include "cli/setting_options.h"
#include "measure/gpu.h"
#include "measure/processor.h"
#include "report/chrome_trace.h"
#include "report/columns.h"
#include "report/format_number.h"
#include "report/html.h"
#include "report/json.h"
#include "report/measured.h"
#include "session/read_text.h"
#include "session/session.h"

namespace symprof::cli {
namespace {

using report::By;
using settings::Named;

enum class Format { table, json, html };
constexpr Named<Format> formats[] = {
    {"table", Format::table}, {"json", Format::json}, {"html", Format::html}};
constexpr Named<By> groupings[] = {{"node", By::node}, {"module", By::module}, {"op", By::op}};

constexpr Named<measure::GpuTiming> timings[] = {{"cupti", measure::GpuTiming::cupti},
                                                 {"events", measure::GpuTiming::events}};

struct MeasureText {
  SettingTexts model;
  std::string steps = "10", timing = "cupti", estimate, save, trace, by, depth, top,
              format = "table";
  OutputOptions output;
};

/// The real device that is asked for, "cpu" or "cuda:N". In `texts` stands after that the one that
/// a graph is prepared for by default.
std::string take_device(SettingTexts& texts) {
  SettingTexts::Given& given = texts.given.at("device");
  const std::string device = given.is_given() ? std::exchange(given.one, default_device) : "cpu";
  given.one = default_device;
  return parse_real_device(device);
}

/// The device file whose GPU the driver calls so; the default one where none does.
std::string device_file_of(const std::string& name) {
  for (const DeviceSpec& known : shipped_devices())
    if (!name.empty() && known.cuda_name == name) return known.name;
  return default_device;
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

void write_trace(const MeasureText& text, const Profile& profile, const PreparedModel& model,
                 const measure::Run& measured) {
  if (!measured.timeline)
    return warn(text.output, "--trace: not written, as CUPTI could not say when kernels ran.");
  fmt::memory_buffer out;
  report::write_chrome_trace(out, profile, model.settings.step.device, &measured);
  write_output({.file = text.trace}, {out.data(), out.size()}, Readers::programs);
}

std::vector<report::Column> columns_of(const PreparedModel& model) {
  return report::default_columns(model.settings.step.optimizer, model.settings.time.has_value());
}

void write(const MeasureText& text, const report::RowOptions& rows, Format format,
           const Profile& profile, const PreparedModel& model, const measure::Run& measured) {
  const measure::Measurement measurement = measure::measurement_of(measured, profile.recording);
  if (!text.save.empty())
    write_output({.file = text.save}, measure::to_json(measured), Readers::programs);
  if (!text.trace.empty()) write_trace(text, profile, model, measured);
  fmt::memory_buffer out;
  if (format == Format::json)
    report::write_json(out, profile, model.settings, spell_as_option, &measurement);
  else if (format == Format::html)
    report::write_html(out, profile, model.settings.step, rows, columns_of(model), spell_as_option,
                       &measurement);
  else
    report::write_measured_table(out, profile, measurement, rows, model.settings.step.device,
                                 layout_of(text.output));
  write_output(text.output, {out.data(), out.size()},
               format == Format::table ? Readers::people : Readers::programs);
}

/// On the GPU in a process of its own: LibTorch's real answers about CUDA and the simulated ones,
/// which the estimate needs, do not live in one.
Apart measured_on_gpu(const MeasureText& text, const Settings& settings,
                      const measure::RunOptions& options) {
  return run_apart([&] {
    want_cuda_kernels();
    Settings own = settings;
    ProgressBar progress(text.output);
    own.step.progress = progress.callback();
    Session session(text.model.model);
    return measure::to_json(session.measure(session.prepare(own), options));
  });
}

/// What the step is, and whose estimates stand beside it: none beside a CPU without --estimate.
Settings read_step(const MeasureText& text, const SettingTexts& texts, bool is_cpu) {
  Settings settings = read_settings(texts);
  if (!text.estimate.empty()) settings.step.device = find_device(text.estimate);
  const bool is_estimated = !is_cpu || !text.estimate.empty();
  if (settings.time && !is_estimated)
    throw Error(SettingRef{"time"}, "no shipped device has times of this CPU.",
                "`symprof calibrate` makes a file with them, for --estimate.");
  if (is_estimated && !settings.time) settings.time.emplace();
  return settings;
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

/// A step that this machine's memory cannot hold would end with the system's killing a program.
void check_memory(const Profile& profile) {
  const std::int64_t wanted = profile.memory.peak_allocated_bytes;
  const std::optional<std::int64_t> there = measure::available_memory_bytes();
  if (!there || wanted <= *there) return;
  throw Error(profile.recording.path,
              fmt::format("its step takes {}, and {} of this machine's memory are free.",
                          report::format_bytes(wanted), report::format_bytes(*there)),
              "A smaller batch (--set), --dtype bf16 or --mode inference take less.",
              ErrorKind::not_available);
}

int run(const MeasureText& text) {
  SettingTexts texts = text.model;
  const std::string device = take_device(texts);
  if (device != "cpu") {
    // CUDA does not survive the fork that the measurement needs.
    const Apart name =
        run_apart([&] { return measure::gpu::name_of(std::stoi(device.substr(5))); });
    if (const int* code = std::get_if<int>(&name)) return *code;
    texts.given.at("device").one = device_file_of(std::get<std::string>(name));
  }
  Settings settings = read_step(text, texts, device == "cpu");
  const report::RowOptions rows = parse_rows(text);
  const Format format = settings::choose(SettingRef{"format"}, text.format, formats);
  const measure::RunOptions options = parse_run_options(text, device);
  for (const std::string& file : {text.output.file, text.save, text.trace})
    check_output({.file = file});
  std::string gpu_run;
  if (device != "cpu") {
    Apart found = measured_on_gpu(text, settings, options);
    if (const int* code = std::get_if<int>(&found)) return *code;
    gpu_run = std::get<std::string>(std::move(found));
  }
  ProgressBar progress(text.output);
  settings.step.progress = progress.callback();
  Session session(texts.model);
  const PreparedModel model = session.prepare(settings);
  const Profile profile = session.profile(model);
  if (device == "cpu") check_memory(profile);
  const measure::Run measured =
      device == "cpu" ? session.measure(model, options) : measure::parse_run(gpu_run, texts.model);
  progress.clear();
  write(text, rows, format, profile, model, measured);
  return done;
}

}  // namespace

Run add_measure(CLI::App& app) {
  const auto text = std::make_shared<MeasureText>();
  app.description("How long each node of a model takes where this program runs.");
  app.footer(
      "Weights and inputs are random numbers of the right shapes.\n\n"
      "Examples:\n"
      "  symprof measure resnet50.pt2 --device cpu --set batch=2 --estimate cpu.json --by op\n"
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
  add("--timing", text->timing, "HOW",
      "On a GPU: cupti, each kernel (the default), or events, each call by CUDA's events");
  add("--estimate", text->estimate, "DEVICE",
      "Whose estimates stand beside: a name or a file of `symprof calibrate` (the GPU's own)");
  add("--save", text->save, "FILE", "Also writes the run, for `symprof profile --measured`");
  add("--trace", text->trace, "FILE",
      "Also writes a step in time, predicted and measured, for ui.perfetto.dev");
  add("--by", text->by, "ROW", "A row for each node (the default), module or op");
  add("--depth", text->depth, "N", "Fold modules deeper than N levels (--by module)");
  add("--top", text->top, "N", "The first N rows; one more sums the others");
  add("--format", text->format, "FORMAT", "table, json or html");
  add_output_options(app, text->output);
  return [text] { return run(*text); };
}

}  // namespace symprof::cli
