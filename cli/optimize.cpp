// symprof optimize: a simpler ONNX model, and what each rule did.
#include <fmt/format.h>

#include <iterator>
#include <memory>

#include "base/error.h"
#include "cli/command.h"
#include "cli/model_output.h"
#include "report/format_number.h"
#include "session/read_text.h"
#include "workbench/optimize/optimize.h"

namespace symprof::cli {
namespace {

struct Options {
  std::string model, fused = "standard", only, skip;
  bool list = false;
  OutputOptions output;
};

int print_list() {
  for (const workbench::RuleDescription& rule : workbench::rule_list())
    fmt::print("{:<20}  {:<9}  {}\n", rule.name, rule.level, rule.meaning);
  return done;
}

void print_report(const workbench::OptimizeReport& report, const std::string& file) {
  fmt::print("{}: {} nodes, before {}; {} passes\n\n", file, report.nodes_after,
             report.nodes_before, report.passes);
  fmt::print("{:<20}  {:>6}  {:>8}  {:>6}  {:>9}  {}\n", "rule", "times", "removed", "added", "ms",
             "results not made any more");
  for (const workbench::RuleReport& rule : report.rules)
    if (rule.times > 0)
      fmt::print("{:<20}  {:>6}  {:>8}  {:>6}  {:>9.3f}  {}\n", rule.name, rule.times, rule.removed,
                 rule.added, rule.milliseconds, report::format_bytes(rule.bytes));
}

int run(const Options& options) {
  if (options.list) return print_list();
  if (options.model.empty())
    throw Error("symprof optimize", "no model was given.",
                "Name an ONNX model, or ask for --list.");
  check_output(options.output);
  check_is_onnx(options.model, "optimize");
  workbench::OptimizeOptions how;
  how.fused = options.fused;
  if (!options.only.empty()) how.only = settings::split_list(options.only);
  if (!options.skip.empty()) how.skip = settings::split_list(options.skip);
  const workbench::Model model = workbench::read_model(options.model, workbench::Weights::keep);
  const workbench::OptimizeReport report = workbench::optimize(*model, how, options.model);
  for (const std::string& warning : report.warnings) warn(options.output, warning);
  write_model(options.output, model, options.model);
  if (!options.output.quiet) print_report(report, options.output.file);
  return done;
}

}  // namespace

Run add_optimize(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  app.description("A simpler ONNX model of the same values, and what each rule did.");
  app.footer(
      "Examples:\n"
      "  symprof optimize llama.onnx -o llama.small.onnx\n"
      "  symprof optimize llama.onnx --fused microsoft -o llama.ort.onnx\n"
      "  symprof optimize --list");
  app.add_option("MODEL", options->model, "An ONNX model")->type_name("");
  const auto add = [&](const char* name, std::string& text, const char* help, const char* type) {
    app.add_option(name, text, help)->type_name(type)->group("Rules");
  };
  add("--fused", options->fused,
      "Which fused operators may be made: none, standard (ONNX's own) or microsoft (and ONNX "
      "Runtime's)",
      "LEVEL");
  add("--only", options->only, "These rules alone, of any level", "LIST");
  add("--skip", options->skip, "Not these rules", "LIST");
  app.add_flag("--list", options->list, "The rules, with their levels")->group("Rules");
  add_output_options(app, options->output);
  return [options] { return run(*options); };
}

}  // namespace symprof::cli
