// symprof engine: the layers of a TensorRT engine, how long each took, and what of a model they
// are.
#include <memory>
#include <optional>

#include "base/error.h"
#include "cli/command.h"
#include "cli/engine_flops.h"
#include "cli/graphviz.h"
#include "cli/output.h"
#include "engine/causes.h"
#include "engine/costs.h"
#include "engine/ideal.h"
#include "engine/map.h"
#include "engine/model.h"
#include "engine/read.h"
#include "engine/summary.h"
#include "report/engine.h"
#include "session/devices.h"
#include "session/paths.h"
#include "session/read_text.h"

namespace symprof::cli {
namespace {

enum class Format { table, json, csv, dot, svg, html };
constexpr settings::Named<report::EngineRows> row_names[] = {
    {"layer", report::EngineRows::layer},
    {"node", report::EngineRows::node},
    {"module", report::EngineRows::module}};
constexpr settings::Named<Format> formats[] = {{"table", Format::table}, {"json", Format::json},
                                               {"csv", Format::csv},     {"dot", Format::dot},
                                               {"svg", Format::svg},     {"html", Format::html}};

/// The files of one engine.
struct EngineFiles {
  std::string layers, profile, log;
};

struct Options {
  OutputOptions output;
  EngineFiles files;
  std::vector<std::string> other;  ///< What stands behind "--".
  std::string onnx, device;
  std::vector<std::string> sizes;
  std::string format = "table", by = "layer", depth;
};

/// Throws Error for rows that need a model where none is given, and for a depth of no modules.
report::EngineRowOptions parse_rows(const Options& options, Format format) {
  report::EngineRowOptions rows;
  rows.by = settings::choose(SettingRef{"by"}, options.by, row_names);
  if (rows.by != report::EngineRows::layer && options.onnx.empty())
    throw Error("--by", "rows of " + options.by + "s are found in the model.",
                "Name it with --onnx.");
  if (rows.by != report::EngineRows::layer && format != Format::table)
    throw Error("--by", "only the table has rows of " + options.by + "s.",
                "JSON has layers and nodes side by side.");
  if (options.depth.empty()) return rows;
  if (rows.by != report::EngineRows::module)
    throw Error("--depth", "it counts module levels, and --by " + options.by + " has none.",
                "Leave it out, or write --by module.");
  rows.depth = settings::parse_count(SettingRef{"depth"}, options.depth, 1);
  return rows;
}

/// Throws Error for what a comparison does not read.
EngineFiles parse_other(const Options& options, Format format) {
  EngineFiles files{.layers = options.other.front()};
  for (std::size_t i = 1; i < options.other.size(); i += 2) {
    const std::string& word = options.other[i];
    std::string* value = word == "--profile" ? &files.profile
                         : word == "--log"   ? &files.log
                                             : nullptr;
    if (!value)
      throw Error(
          "engine",
          "behind -- stand the other engine's LAYERS, --profile and --log, not '" + word + "'.",
          "Write all other options before it.");
    if (i + 1 == options.other.size())
      throw Error("engine", word + " has no value.", "See symprof engine --help.");
    *value = options.other[i + 1];
  }
  if (!options.onnx.empty() || !options.device.empty() || options.by != "layer")
    throw Error("engine", "two engines are compared by their layers alone.",
                "Leave --onnx, --device and --by out, or ask for one engine.");
  if (format != Format::table && format != Format::json && format != Format::html)
    throw Error("--format", "a comparison has no " + options.format + ".",
                "Write --format table, json or html.");
  return files;
}

/// An engine as its files have it, with what a build log beside it says.
struct ReadEngine {
  explicit ReadEngine(const EngineFiles& files) : engine(engine::read_engine(files.layers)) {
    if (!files.log.empty()) add_log(files.log);
    if (!files.profile.empty()) engine.times = engine::read_times(files.profile);
    summary = summarize(engine, nullptr);
  }

  engine::Engine engine;
  engine::EngineSummary summary;

 private:
  void add_log(const std::string& path) {
    const engine::Engine built = engine::read_engine(path);
    engine.fusions = built.fusions;
    if (engine.version.empty()) engine.version = built.version;
    if (engine.regions.empty())
      engine.regions = built.regions.empty() ? built.layers : built.regions;
    if (!engine.times) engine.times = built.times;
  }
};

/// The model, the map and the costs that a report points to.
struct Findings {
  std::optional<engine::Model> model;
  std::optional<engine::NodeMap> map;
  std::optional<engine::EngineCosts> costs;
};

report::EngineReport report_of(const ReadEngine& read, const Options& options, Findings& found) {
  report::EngineReport report{read.engine, read.summary};
  if (!options.onnx.empty()) {
    report.model = &found.model.emplace(engine::read_model(options.onnx));
    report.map = &found.map.emplace(engine::map_nodes(read.engine, *found.model));
  }
  std::optional<DeviceSpec> device;
  if (!options.device.empty()) {
    device = find_device(options.device);
    std::optional<engine::NodeFlops> flops;
    if (found.map) flops = flops_of_nodes(options.onnx, options.sizes);
    report.costs = &found.costs.emplace(engine::cost_layers(
        read.engine, read.summary, *device, report.model, report.map, flops ? &*flops : nullptr));
    profile::TimeModel times =
        profile::time_model_of(*device, devices_folder() + "/time/data_sheet.json");
    engine::estimate_layers(read.engine, read.summary, times, *found.costs);
  }
  report.causes = engine::find_causes(read.engine, read.summary, report.model, report.map);
  engine::add_ideal_times(read.engine, read.summary, device ? &*device : nullptr, report.costs,
                          report.causes);
  return report;
}

void write_one(fmt::memory_buffer& out, Format format, const ReadEngine& read,
               const report::EngineRowOptions& rows, const Options& options) {
  Findings found;
  const report::EngineReport report = report_of(read, options, found);
  if (format == Format::json) return report::write_engine_json(out, report);
  if (format == Format::table)
    return report::write_engine_table(out, report, rows, layout_of(options.output));
  if (format == Format::html) return report::write_engine_html(out, report);
  if (format == Format::csv)
    report::write_engine_csv(out, report);
  else
    report::write_engine_dot(out, report);
  if (format == Format::svg) out = svg_of({out.data(), out.size()});
  // None of these has a place for them.
  for (const std::string& warning : read.summary.warnings) warn(options.output, warning);
}

void write_both(fmt::memory_buffer& out, Format format, const ReadEngine& first,
                const ReadEngine& second, const Options& options) {
  report::EngineReport before{first.engine, first.summary}, after{second.engine, second.summary};
  if (format == Format::json) return report::write_engine_comparison_json(out, before, after);
  for (report::EngineReport* side : {&before, &after})
    side->causes = engine::find_causes(side->engine, side->summary, nullptr, nullptr);
  if (format == Format::html) return report::write_engine_comparison_html(out, before, after);
  report::write_engine_comparison(out, before, after, layout_of(options.output));
}

int run(const Options& options) {
  const Format format = settings::choose(SettingRef{"format"}, options.format, formats);
  const report::EngineRowOptions rows = parse_rows(options, format);
  std::optional<EngineFiles> other;
  if (!options.other.empty()) other = parse_other(options, format);
  check_output(options.output);
  const ReadEngine first(options.files);
  fmt::memory_buffer out;
  if (other)
    write_both(out, format, first, ReadEngine(*other), options);
  else
    write_one(out, format, first, rows, options);
  write_output(options.output, {out.data(), out.size()},
               format == Format::table ? Readers::people : Readers::programs);
  return done;
}

void add_engine_options(CLI::App& app, Options& options) {
  app.get_formatter()->label("Positionals", "Engine");
  app.add_option("LAYERS", options.files.layers, "What describes the engine")
      ->type_name("")
      ->required();
  app.add_option("OTHER", options.other, "Behind --: another engine, to compare the first with")
      ->type_name("")
      ->expected(1, 5);
  const auto add = [&](const char* name, std::string& value, const char* type, const char* help,
                       const char* group) {
    app.add_option(name, value, help)->type_name(type)->group(group);
  };
  const char* known = "What else is known of it";
  add("--onnx", options.onnx, "MODEL",
      "The model that the engine was built from: says which nodes became which layers", known);
  add("--profile", options.files.profile, "TIMES",
      "What trtexec writes with --exportProfile, or a log", known);
  add("--log", options.files.log, "LOG", "The verbose log of the engine's build", known);
  add("--device", options.device, "NAME",
      "The device that it ran on: estimates times, and says what its data sheet allows", known);
  app.add_option("--set", options.sizes, "The size of a dimension that the model leaves open: N=8")
      ->type_name("NAME=N")
      ->allow_extra_args(false)
      ->group(known);
  const char* reported = "What is reported";
  add("--by", options.by, "ROW",
      "A row for each layer (the default), or, of the model, for each node or module", reported);
  add("--depth", options.depth, "N", "Fold modules deeper than N levels (--by module)", reported);
  add("--format", options.format, "FORMAT",
      "table, json, csv, dot (for graphviz), svg (needs graphviz), or html", "Output");
  add_output_options(app, options.output);
}

}  // namespace

Run add_engine(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  app.description("The layers of a TensorRT engine that was built, and how long each took.");
  app.footer(
      "LAYERS is what trtexec writes with --exportLayerInfo (--profilingVerbosity=detailed tells\n"
      "most), the text or JSON of EngineInspector, or a verbose log.\n\n"
      "Examples:\n"
      "  symprof engine layers.json --profile times.json --device a100-80g\n"
      "  symprof engine layers.json --profile times.json --onnx model.onnx --by module --depth 2\n"
      "  symprof engine old.json --profile old_times.json -- new.json --profile new_times.json");
  add_engine_options(app, *options);
  return [options] { return run(*options); };
}

}  // namespace symprof::cli
