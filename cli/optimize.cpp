// symprof optimize: a simpler ONNX model, and what each rule did.
#include <fmt/format.h>

#include <memory>

#include "base/error.h"
#include "cli/command.h"
#include "cli/formats.h"
#include "cli/model_output.h"
#include "report/onnx/optimize.h"
#include "session/onnx/optimize.h"
#include "session/read_text.h"
#include "session/setting_table.h"

namespace symprof::cli {
namespace optimize_command {
namespace {

struct Options {
  std::string model, fused = "standard", only, also, skip, format;
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

OptimizeQuestion question_of(const Options& options) {
  OptimizeQuestion question{.model = options.model,
                            .verifies = options.verify,
                            .has_savings = options.savings,
                            .tolerance = options.tolerance,
                            .seed = options.seed};
  for (const std::string& size : options.sizes) settings::set(question.settings, "sizes", size);
  workbench::OptimizeOptions& rules = question.rules;
  rules.fused = options.fused;
  if (!options.only.empty()) rules.only = settings::split_list(options.only);
  if (!options.also.empty()) rules.also = settings::split_list(options.also);
  if (!options.skip.empty()) rules.skip = settings::split_list(options.skip);
  rules.checks_each_rule = options.verify;
  return question;
}

void print(const OptimizeAnswer& answer, const std::string& file, Format format) {
  fmt::memory_buffer out;
  if (format == Format::json)
    report::write_optimize_json(out, answer, file);
  else if (format == Format::stat)
    report::write_optimize_stat(out, answer);
  else
    report::write_optimize_table(out, answer, file);
  write_result({}, out, format);
}

int optimize(const Options& options, Format format) {
  const OptimizeAnswer answer = optimize_model(question_of(options));
  for (const std::string& warning : answer.report.warnings) warn(options.output, warning);
  if (answer.is_good()) write_model(options.output, answer.optimized, options.model);
  if (!options.output.quiet || !answer.is_good()) print(answer, options.output.file, format);
  return answer.is_good() ? done : answer_is_no;
}

int run(const Options& options) {
  if (options.list) return print_list();
  if (options.model.empty())
    throw Error("symprof optimize", "no model was given.",
                "Name an ONNX model, or ask for --list.");
  const Format format = read_format(Verb::optimize, options.format);
  check_output(options.output);
  if (options.output.file.empty())
    throw Error("-o", "a model is no text for a terminal.", "Name the file to write: -o OUT.onnx.");
  return optimize(options, format);
}

void add_check_options(CLI::App& app, Options& options) {
  const OptionGroup checks(app, "Checks");
  checks.add_flag("--verify", options.verify,
                  "Run both graphs on the same random inputs, by symprof's own interpreter on the "
                  "CPU, and onnx's checker after each rule; if values differ, exit code 1 and no "
                  "file");
  checks.add("--tolerance", options.tolerance, "X",
             "Allowed error, times max(1, the output's largest number) (1e-5; 5e-3 where the model "
             "has float16, 4e-2 where it has bfloat16)");
  checks.add("--seed", options.seed, "N", "Other random inputs for another seed (0)");
  checks.add_each("--set", options.sizes, "NAME=SIZE",
                  "Size of a symbolic dimension, for --verify (default: 2, 3, …) and --savings");
}

}  // namespace
}  // namespace optimize_command

Run add_optimize(CLI::App& app) {
  using namespace optimize_command;
  const auto options = std::make_shared<Options>();
  app.description("A simpler ONNX model of the same values, and what each rule did.");
  app.footer(
      "Examples:\n"
      "  symprof optimize llama.onnx -o llama.small.onnx\n"
      "  symprof optimize llama.onnx --fused microsoft --verify -o llama.ort.onnx\n"
      "  symprof optimize llama.onnx --savings --set batch=8 -o llama.small.onnx\n"
      "  symprof optimize --list");
  app.add_option("MODEL", options->model, "An ONNX model")->type_name("");
  const OptionGroup rules(app, "Rules");
  rules.add("--fused", options->fused, "LEVEL",
            "Which fused operators may be made: none, standard (ONNX's own), microsoft (and ONNX "
            "Runtime's) or training (and those that only its build for training has)");
  rules.add("--only", options->only, "LIST", "These rules alone, of any level");
  rules.add("--also", options->also, "LIST",
            "These rules too, of any level, such as those \"by name\"");
  rules.add("--skip", options->skip, "LIST", "Not these rules");
  rules.add_flag("--list", options->list, "The rules, with their levels");
  add_check_options(app, *options);
  OptionGroup(app, "Output")
      .add_flag(
          "--savings", options->savings,
          "What each rule saved of a step, by symprof profile: FLOPs, bytes moved, bytes saved "
          "for backward");
  add_format_option({app, "Output"}, options->format, Verb::optimize, "; on standard output");
  add_output_options(app, options->output);
  return [options] { return run(*options); };
}

}  // namespace symprof::cli
