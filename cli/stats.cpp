// symprof stats: what is in an ONNX model, counted; two models side by side.
#include <map>
#include <memory>
#include <optional>

#include "base/error.h"
#include "cli/command.h"
#include "cli/model_output.h"
#include "session/read_text.h"
#include "workbench/optimize/optimize.h"
#include "workbench/stats.h"

namespace symprof::cli {
namespace {

enum class Format { table, json, csv };
constexpr settings::Named<Format> formats[] = {
    {"table", Format::table}, {"json", Format::json}, {"csv", Format::csv}};

struct Options {
  std::string model, other, format = "table";
  bool tensors = false;
  OutputOptions output;
};

/// How often each rule of symprof optimize would be applied to a model that take_stats() left;
/// nothing of one that it refuses.
std::map<std::string, std::int64_t> patterns_of(onnx::ModelProto& model, const Options& options,
                                                const std::string& path) {
  std::map<std::string, std::int64_t> patterns;
  try {
    workbench::OptimizeOptions how;
    how.fused = "microsoft";
    how.is_typed = true;
    how.only_counts = true;
    for (const workbench::RuleReport& rule : workbench::optimize(model, how, path).rules)
      if (rule.times > 0) patterns[rule.name] = rule.times;
  } catch (const Error& error) {
    warn(options.output, "rules are not counted: " + error.summary());
  }
  return patterns;
}

workbench::ModelStats count(const std::string& path, const Options& options) {
  check_is_onnx(path, "stats");
  const workbench::Model model = workbench::read_model(path, workbench::Weights::skip);
  workbench::ModelStats stats = workbench::take_stats(*model, path);
  stats.patterns = patterns_of(*model, options, path);
  if (options.tensors)
    stats.tensors =
        workbench::tensor_stats(*workbench::read_model(path, workbench::Weights::keep), path);
  return stats;
}

int run(const Options& options) {
  const Format format = settings::choose(SettingRef{"format"}, options.format, formats);
  check_output(options.output);
  if (options.tensors && (format == Format::csv || !options.other.empty()))
    throw Error("--tensors", "numbers of tensors stand in the table or the JSON of one model.",
                "Leave it out, or ask for --format json of each.");
  const workbench::ModelStats stats = count(options.model, options);
  std::optional<workbench::ModelStats> other;
  if (!options.other.empty()) other = count(options.other, options);
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
      "  symprof stats llama.onnx --tensors\n"
      "  symprof stats llama.onnx --format json -o llama.json");
  app.add_option("MODEL", options->model, "An ONNX model")->required()->type_name("");
  app.add_option("OTHER", options->other, "Another one, to compare with")->type_name("");
  app.add_flag("--tensors", options->tensors,
               "Bounds, mean, deviation and deciles of each initializer and Constant")
      ->group("What is counted");
  app.add_option("--format", options->format, "table, json or csv")
      ->type_name("FORMAT")
      ->group("Output");
  add_output_options(app, options->output);
  return [options] { return run(*options); };
}

}  // namespace symprof::cli
