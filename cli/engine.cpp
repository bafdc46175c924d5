// symprof engine: the layers of a TensorRT engine, and how long each took.
#include <memory>
#include <optional>

#include "base/error.h"
#include "cli/command.h"
#include "cli/output.h"
#include "engine/causes.h"
#include "engine/map.h"
#include "engine/model.h"
#include "engine/read.h"
#include "engine/summary.h"
#include "report/engine.h"
#include "session/read_text.h"

namespace symprof::cli {
namespace {

enum class Format { table, json, csv };
constexpr settings::Named<report::EngineRows> row_names[] = {
    {"layer", report::EngineRows::layer},
    {"node", report::EngineRows::node},
    {"module", report::EngineRows::module}};
constexpr settings::Named<Format> formats[] = {
    {"table", Format::table}, {"json", Format::json}, {"csv", Format::csv}};

struct Options {
  OutputOptions output;
  std::string layers, onnx, profile, log;
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
  rows.depth = static_cast<int>(settings::parse_count(SettingRef{"depth"}, options.depth, 1));
  return rows;
}

/// The engine, with what a build log beside it says.
engine::Engine read(const Options& options) {
  engine::Engine found = engine::read_engine(options.layers);
  if (options.log.empty()) return found;
  const engine::Engine built = engine::read_engine(options.log);
  found.fusions = built.fusions;
  if (found.version.empty()) found.version = built.version;
  if (found.regions.empty()) found.regions = built.regions.empty() ? built.layers : built.regions;
  if (!found.times) found.times = built.times;
  return found;
}

void write(fmt::memory_buffer& out, Format format, const report::EngineReport& report,
           const report::EngineRowOptions& rows, const report::Layout& layout) {
  if (format == Format::json)
    report::write_engine_json(out, report);
  else if (format == Format::csv)
    report::write_engine_csv(out, report);
  else
    report::write_engine_table(out, report, rows, layout);
}

int run(const Options& options) {
  const Format format = settings::choose(SettingRef{"format"}, options.format, formats);
  const report::EngineRowOptions rows = parse_rows(options, format);
  check_output(options.output);
  const engine::Engine engine = read(options);
  std::optional<engine::Times> times;
  if (!options.profile.empty()) times = engine::read_times(options.profile);
  const engine::EngineSummary summary = summarize(engine, times ? &*times : nullptr);
  report::EngineReport report{engine, summary};
  std::optional<engine::Model> model;
  std::optional<engine::NodeMap> map;
  if (!options.onnx.empty()) {
    report.model = &model.emplace(engine::read_model(options.onnx));
    report.map = &map.emplace(engine::map_nodes(engine, *model));
  }
  report.causes = engine::find_causes(engine, summary, report.model, report.map);
  fmt::memory_buffer out;
  write(out, format, report, rows, layout_of(options.output));
  // CSV has no place for them.
  if (format == Format::csv)
    for (const std::string& warning : summary.warnings) warn(options.output, warning);
  write_output(options.output, {out.data(), out.size()},
               format == Format::table ? Readers::people : Readers::programs);
  return done;
}

}  // namespace

Run add_engine(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  app.description("The layers of a TensorRT engine that was built, and how long each took.");
  app.footer(
      "LAYERS is what trtexec writes with --exportLayerInfo (--profilingVerbosity=detailed tells\n"
      "most), the text or JSON of EngineInspector, or a verbose log.\n\n"
      "Examples:\n"
      "  symprof engine layers.json --profile times.json\n"
      "  symprof engine layers.json --profile times.json --onnx model.onnx --by module --depth 2\n"
      "  symprof engine build.log --format json -o engine.json");
  app.get_formatter()->label("Positionals", "Engine");
  app.add_option("LAYERS", options->layers, "What describes the engine")->type_name("")->required();
  const auto add = [&](const char* name, std::string& value, const char* type, const char* help) {
    app.add_option(name, value, help)->type_name(type)->group("What else is known of it");
  };
  add("--onnx", options->onnx, "MODEL",
      "The model that the engine was built from: says which nodes became which layers");
  add("--profile", options->profile, "TIMES", "What trtexec writes with --exportProfile, or a log");
  add("--log", options->log, "LOG", "The verbose log of the engine's build");
  const auto add_row = [&](const char* name, std::string& value, const char* type,
                           const char* help) {
    app.add_option(name, value, help)->type_name(type)->group("What is reported");
  };
  add_row("--by", options->by, "ROW",
          "A row for each layer (the default), or, of the model, for each node or module");
  add_row("--depth", options->depth, "N", "Fold modules deeper than N levels (--by module)");
  app.add_option("--format", options->format, "table, json or csv")
      ->type_name("FORMAT")
      ->group("Output");
  add_output_options(app, options->output);
  return [options] { return run(*options); };
}

}  // namespace symprof::cli
