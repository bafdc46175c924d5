// symprof stats: counts of an ONNX model's contents; two models side by side.
#include <memory>
#include <optional>
#include <utility>

#include "base/error.h"
#include "cli/command.h"
#include "cli/formats.h"
#include "report/onnx/stats.h"
#include "session/onnx/stats.h"

namespace symprof::cli {
namespace stats_command {
namespace {

struct Options {
  std::string model, other, format;
  bool tensors = false;
  OutputOptions output;
};

workbench::ModelStats count(const std::string& path, const Options& options) {
  StatsAnswer answer = count_model(path, options.tensors);
  if (!answer.warning.empty()) warn(options.output, answer.warning);
  return std::move(answer.stats);
}

int run(const Options& options) {
  const Format format = read_format(Verb::stats, options.format);
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
    report::write_stats_json(out, stats, options.model, second, options.other);
  else if (format == Format::csv)
    report::write_stats_csv(out, stats, second);
  else
    report::write_stats(out, stats, options.model, second, options.other);
  write_result(options.output, out, format);
  return done;
}

}  // namespace
}  // namespace stats_command

Run add_stats(CLI::App& app) {
  using namespace stats_command;
  const auto options = std::make_shared<Options>();
  app.description(
      "Counts of an ONNX model: operators, types, shapes, initializers, modules, blocks.");
  app.footer(
      "Examples:\n"
      "  symprof stats llama.onnx\n"
      "  symprof stats llama.onnx -- llama.optimized.onnx\n"
      "  symprof stats llama.onnx --tensors\n"
      "  symprof stats llama.onnx --format json -o llama.json");
  app.add_option("MODEL", options->model, "An ONNX model")->required()->type_name("");
  app.add_option("OTHER", options->other, "After --: another one, to compare with")->type_name("");
  OptionGroup(app, "What is counted")
      .add_flag("--tensors", options->tensors,
                "Bounds, mean, deviation and deciles of each initializer and Constant");
  add_format_option({app, "Output"}, options->format, Verb::stats);
  add_output_options(app, options->output);
  return [options] { return run(*options); };
}

}  // namespace symprof::cli
