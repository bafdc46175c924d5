// symprof optimize: a simpler ONNX model, and what each rule did.
#include <fmt/format.h>

#include <memory>

#include "base/error.h"
#include "cli/command.h"
#include "cli/model_output.h"
#include "cli/optimize_report.h"
#include "cli/value_runner.h"
#include "session/read_text.h"
#include "session/setting_table.h"
#include "workbench/optimize/optimize.h"

namespace symprof::cli {
namespace {

enum class Format { table, stat, json };
constexpr settings::Named<Format> formats[] = {
    {"table", Format::table}, {"stat", Format::stat}, {"json", Format::json}};

struct Options {
  std::string model, fused = "standard", only, also, skip, format = "table";
  std::vector<std::string> sizes;
  bool list = false, verify = false, savings = false;
  std::optional<double> tolerance;
  std::uint64_t seed = 0;
  OutputOptions output;
};

int print_list() {
  for (const workbench::RuleDescription& rule : workbench::rule_list())
    fmt::print("{:<20}  {:<9}  {}\n", rule.name, rule.level, rule.meaning);
  return done;
}

Settings settings_of(const Options& options) {
  Settings settings;
  for (const std::string& size : options.sizes) settings::set(settings, "sizes", size);
  return settings;
}

workbench::OptimizeOptions how_of(const Options& options) {
  workbench::OptimizeOptions how;
  how.fused = options.fused;
  if (!options.only.empty()) how.only = settings::split_list(options.only);
  if (!options.also.empty()) how.also = settings::split_list(options.also);
  if (!options.skip.empty()) how.skip = settings::split_list(options.skip);
  how.checks_each_rule = options.verify;
  return how;
}

bool differ(const std::vector<workbench::OutputDifference>& differences) {
  for (const workbench::OutputDifference& one : differences)
    if (!one.is_within) return true;
  return false;
}

/// The first rule after which values differ too much: everything once more, with a look after each.
std::string breaking_rule(const Options& options, const workbench::Verifier& verifier) {
  std::string broken_by;
  workbench::OptimizeOptions how = how_of(options);
  how.after_rule = [&](const std::string& rule, const onnx::ModelProto& model) {
    if (broken_by.empty() && differ(verifier.compare(model)))
      broken_by = rule.empty() ? "inlining of functions" : rule;
  };
  const workbench::Model again = workbench::read_model(options.model, workbench::Weights::keep);
  workbench::optimize(*again, how, options.model);
  return broken_by.empty() ? "?" : broken_by;
}

void print(const OptimizeResult& result, Format format) {
  fmt::memory_buffer out;
  if (format == Format::json)
    write_optimize_json(out, result);
  else if (format == Format::stat)
    write_optimize_stat(out, result);
  else
    write_optimize_table(out, result);
  write_output({}, {out.data(), out.size()},
               format == Format::table ? Readers::people : Readers::programs);
}

int optimize_model(const Options& options, Format format) {
  const workbench::ValueRunner runner = options.verify ? value_runner() : workbench::ValueRunner();
  const workbench::Model model = workbench::read_model(options.model, workbench::Weights::keep);
  workbench::OptimizeOptions how = how_of(options);
  OptimizeResult result{.model = options.model, .file = options.output.file};
  std::optional<workbench::Verifier> verifier;
  std::optional<Savings> savings;
  if (options.verify) {
    const auto sizes = settings_of(options).sizes;
    verifier.emplace(*model, options.model, runner,
                     workbench::VerifyOptions{.sizes = {sizes.begin(), sizes.end()},
                                              .tolerance = options.tolerance,
                                              .seed = options.seed});
    result.verifier = &*verifier;
  }
  if (options.savings) {
    result.savings = &savings.emplace(options.model, settings_of(options));
    how.after_rule = [&](const std::string& rule, const onnx::ModelProto& now) {
      savings->look(rule, now);
    };
  }
  result.report = workbench::optimize(*model, how, options.model);
  for (const std::string& warning : result.report.warnings) warn(options.output, warning);
  if (verifier) result.differences = verifier->compare(*model);
  const bool is_good = !differ(result.differences);
  if (is_good)
    write_model(options.output, model, options.model);
  else
    result.broken_by = breaking_rule(options, *verifier);
  if (!options.output.quiet || !is_good) print(result, format);
  return is_good ? done : answer_is_no;
}

int run(const Options& options) {
  if (options.list) return print_list();
  if (options.model.empty())
    throw Error("symprof optimize", "no model was given.",
                "Name an ONNX model, or ask for --list.");
  const Format format = settings::choose(SettingRef{"format"}, options.format, formats);
  check_output(options.output);
  if (options.output.file.empty())
    throw Error("-o", "a model is no text for a terminal.", "Name the file to write: -o OUT.onnx.");
  check_is_onnx(options.model, "optimize");
  return optimize_model(options, format);
}

void add_check_options(CLI::App& app, Options& options) {
  app.add_flag("--verify", options.verify,
               "Run both graphs on the same random inputs, by symprof's own interpreter on the "
               "CPU, and let onnx's checker look after each rule; exit code 1 and no file where "
               "values differ")
      ->group("Checks");
  app.add_option("--tolerance", options.tolerance,
                 "How far a value x may be off, times max(1, |x|) (1e-6; 2e-4 where the model has "
                 "float16 or bfloat16)")
      ->type_name("X")
      ->group("Checks");
  app.add_option("--seed", options.seed, "Other random inputs for another seed (0)")
      ->type_name("N")
      ->group("Checks");
  app.add_option("--set", options.sizes,
                 "Size of a symbolic dimension, for --verify (2, 3, … without) and --savings")
      ->type_name("NAME=SIZE")
      ->allow_extra_args(false)
      ->group("Checks");
}

}  // namespace

Run add_optimize(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  app.description("A simpler ONNX model of the same values, and what each rule did.");
  app.footer(
      "Examples:\n"
      "  symprof optimize llama.onnx -o llama.small.onnx\n"
      "  symprof optimize llama.onnx --fused microsoft --verify -o llama.ort.onnx\n"
      "  symprof optimize llama.onnx --savings --set batch=8 -o llama.small.onnx\n"
      "  symprof optimize --list");
  app.add_option("MODEL", options->model, "An ONNX model")->type_name("");
  const auto add = [&](const char* name, std::string& text, const char* help, const char* type) {
    app.add_option(name, text, help)->type_name(type)->group("Rules");
  };
  add("--fused", options->fused,
      "Which fused operators may be made: none, standard (ONNX's own), microsoft (and ONNX "
      "Runtime's) or training (and those that only its build for training has)",
      "LEVEL");
  add("--only", options->only, "These rules alone, of any level", "LIST");
  add("--also", options->also, "These rules too, of any level, such as those \"by name\"", "LIST");
  add("--skip", options->skip, "Not these rules", "LIST");
  app.add_flag("--list", options->list, "The rules, with their levels")->group("Rules");
  add_check_options(app, *options);
  app.add_flag(
         "--savings", options->savings,
         "What each rule saved of a step, by symprof profile: FLOPs, bytes moved, bytes saved "
         "for backward")
      ->group("Output");
  app.add_option("--format", options->format,
                 "table, stat (a line STAT for each rule, as experimental-experiment prints them) "
                 "or json; on standard output")
      ->type_name("FORMAT")
      ->group("Output");
  add_output_options(app, options->output);
  return [options] { return run(*options); };
}

}  // namespace symprof::cli
