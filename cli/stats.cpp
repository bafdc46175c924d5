// symprof stats: what is in an ONNX model, counted; two models side by side.
#include <memory>
#include <optional>

#include "base/error.h"
#include "cli/command.h"
#include "cli/model_output.h"
#include "session/read_text.h"
#include "workbench/stats.h"

namespace symprof::cli {
namespace {

enum class Format { table, json, csv };
constexpr settings::Named<Format> formats[] = {
    {"table", Format::table}, {"json", Format::json}, {"csv", Format::csv}};

struct Options {
  std::string model, other, format = "table";
  OutputOptions output;
};

workbench::ModelStats count(const std::string& path) {
  check_is_onnx(path, "stats");
  return workbench::stats_of(*workbench::read_model(path, workbench::Weights::skip), path);
}

int run(const Options& options) {
  const Format format = settings::choose(SettingRef{"format"}, options.format, formats);
  check_output(options.output);
  const workbench::ModelStats stats = count(options.model);
  std::optional<workbench::ModelStats> other;
  if (!options.other.empty()) other = count(options.other);
  const workbench::ModelStats* second = other ? &*other : nullptr;
  fmt::memory_buffer out;
  if (format == Format::json)
    write_stats_json(out, stats, options.model, second, options.other);
  else if (format == Format::csv)
    write_stats_csv(out, stats, second);
  else
    write_stats(out, stats, options.model, second, options.other);
  write_output(options.output, {out.data(), out.size()},
               format == Format::table ? Readers::people : Readers::programs);
  return done;
}

}  // namespace

Run add_stats(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  app.description(
      "What is in an ONNX model, counted: operators, types, shapes, initializers, modules, "
      "blocks.");
  app.footer(
      "Examples:\n"
      "  symprof stats llama.onnx\n"
      "  symprof stats llama.onnx -- llama.optimized.onnx\n"
      "  symprof stats llama.onnx --format json -o llama.json");
  app.add_option("MODEL", options->model, "An ONNX model")->required()->type_name("");
  app.add_option("OTHER", options->other, "Another one, to compare with")->type_name("");
  app.add_option("--format", options->format, "table, json or csv")
      ->type_name("FORMAT")
      ->group("Output");
  add_output_options(app, options->output);
  return [options] { return run(*options); };
}

}  // namespace symprof::cli
