// symprof engine: the layers of a TensorRT engine, their times, and the model's nodes that they
// run.
#include <memory>
#include <optional>

#include "base/error.h"
#include "cli/command.h"
#include "cli/formats.h"
#include "cli/output.h"
#include "report/engine/engine.h"
#include "report/write/graphviz.h"
#include "session/engine/engine.h"
#include "session/read_text.h"

namespace symprof::cli {
namespace engine_command {
namespace {

constexpr settings::Named<report::EngineRows> row_names[] = {
    {"layer", report::EngineRows::layer},
    {"node", report::EngineRows::node},
    {"module", report::EngineRows::module}};

struct Options {
  OutputOptions output;
  EngineFiles files;
  std::vector<std::string> other;  ///< Arguments after "--".
  std::string onnx, device;
  std::vector<std::string> sizes;
  std::string format, by = "layer", depth;
};

/// Throws Error for rows that need a model if none is given, and for a depth of rows other than
/// modules.
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

/// Throws Error for options that a comparison does not use.
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

report::EngineReport report_of(const EngineAnswer& answer) {
  return {answer.engine,
          answer.summary,
          answer.model ? &*answer.model : nullptr,
          answer.map ? &*answer.map : nullptr,
          answer.causes,
          answer.costs ? &*answer.costs : nullptr};
}

void write_one(fmt::memory_buffer& out, Format format, const EngineAnswer& answer,
               const report::EngineRowOptions& rows, const Options& options) {
  const report::EngineReport report = report_of(answer);
  if (format == Format::json) return report::write_engine_json(out, report);
  if (format == Format::table)
    return report::write_engine_table(out, report, rows, layout_of(options.output));
  if (format == Format::html) return report::write_engine_html(out, report);
  if (format == Format::csv)
    report::write_engine_csv(out, report);
  else
    report::write_engine_dot(out, report);
  if (format == Format::svg) out = report::svg_of({out.data(), out.size()});
  // These formats have no place for warnings.
  for (const std::string& warning : answer.summary.warnings) warn(options.output, warning);
}

void write_both(fmt::memory_buffer& out, Format format, const EnginePair& pair,
                const Options& options) {
  const report::EngineReport before = report_of(pair.before), after = report_of(pair.after);
  if (format == Format::json) return report::write_engine_comparison_json(out, before, after);
  if (format == Format::html) return report::write_engine_comparison_html(out, before, after);
  report::write_engine_comparison(out, before, after, layout_of(options.output));
}

int run(const Options& options) {
  const Format format = read_format(Verb::engine, options.format);
  const report::EngineRowOptions rows = parse_rows(options, format);
  std::optional<EngineFiles> other;
  if (!options.other.empty()) other = parse_other(options, format);
  check_output(options.output);
  fmt::memory_buffer out;
  if (other)
    write_both(out, format, compare_engines(options.files, *other), options);
  else
    write_one(out, format,
              analyze_engine({options.files, options.onnx, options.device, options.sizes}), rows,
              options);
  write_result(options.output, out, format);
  return done;
}

void add_engine_options(CLI::App& app, Options& options) {
  app.get_formatter()->label("Positionals", "Engine");
  app.add_option("LAYERS", options.files.layers, "The file that describes the engine (see below)")
      ->type_name("")
      ->required();
  app.add_option("OTHER", options.other, "After --: another engine, to compare with")
      ->type_name("")
      ->expected(1, 5);
  const OptionGroup known(app, "More about the engine");
  known.add("--onnx", options.onnx, "MODEL",
            "The model that the engine was built from, to map its nodes to layers");
  known.add("--profile", options.files.profile, "TIMES",
            "Times of the layers: a file of trtexec's --exportProfile, or a log");
  known.add("--log", options.files.log, "LOG", "The verbose log of the engine's build");
  known.add("--device", options.device, "NAME",
            "The device that it ran on, for estimated times and roofline bounds");
  known.add_each("--set", options.sizes, "NAME=N",
                 "The size of a dimension that the model leaves open: N=8");
  const OptionGroup reported(app, "What is reported");
  reported.add("--by", options.by, "ROW",
               "layer (the default), or, with --onnx, node or module of the model");
  reported.add("--depth", options.depth, "N", "Fold modules deeper than N levels (--by module)");
  add_format_option({app, "Output"}, options.format, Verb::engine);
  add_output_options(app, options.output);
}

}  // namespace
}  // namespace engine_command

Run add_engine(CLI::App& app) {
  using namespace engine_command;
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
