// symprof compare: two models side by side, value by value.
#include <fmt/format.h>

#include <memory>

#include "cli/command.h"
#include "cli/formats.h"
#include "cli/model_pair.h"
#include "cli/output.h"
#include "report/compare/rows.h"
#include "report/compare/values.h"

namespace symprof::cli {
namespace compare_command {
namespace {

struct Options {
  CompareQuestion question;
  std::string format;
  std::size_t width = 60;
  bool all = false;
  bool costs = false;  ///< Another command does that: compare_costs.h.
  OutputOptions output;
};

void print(const CompareAnswer& result, const Options& options, Format format) {
  fmt::memory_buffer out;
  if (format == Format::json)
    report::write_compare_json(out, result);
  else if (format == Format::rows)
    report::write_compare_rows(result.comparison.a, result.comparison.b,
                               result.comparison.alignment, options.width, out);
  else
    report::write_compare_table(out, result, options.all, layout_of(options.output));
  write_result(options.output, out, format);
}

int run(const Options& options) {
  const Format format = read_format(Verb::compare, options.format);
  check_output(options.output);
  const CompareAnswer answer = compare_models(options.question);
  print(answer, options, format);
  return answer.is_good() ? done : answer_is_no;
}

void add_row_options(CLI::App& app, Options& options) {
  const OptionGroup rows(app, "Rows");
  rows.add("--mode", options.question.mode, "MODE",
           "values: run both models and compare results; nodes: compare the graphs only (.onnx)");
  rows.add("--align", options.question.align, "HOW",
           "best: match values by content, inputs and names, ignoring order; edit: by edit "
           "distance, exactly as onnx-array-api");
  rows.add("--tolerance", options.question.tolerance, "X",
           "Allowed error of a value x, times max(1, |x|) (1e-5; 1e-2 where a model has float16 or "
           "bfloat16)");
}

}  // namespace
}  // namespace compare_command

Run add_compare(CLI::App& app) {
  using namespace compare_command;
  const auto options = std::make_shared<Options>();
  app.description("Two models side by side: which values match, and where they diverge.");
  app.footer(
      "Examples:\n"
      "  symprof compare llama.onnx llama.small.onnx\n"
      "  symprof compare llama.pt2 llama.onnx --tolerance 1e-4\n"
      "  symprof compare a.onnx b.onnx --inputs input_ids=ids.npy --format json\n"
      "  symprof compare llama.onnx llama.onnx --backend torch:onnxruntime\n"
      "  symprof compare a.onnx b.onnx --align edit --format rows --width 90\n"
      "  symprof compare --costs a.onnx --by module -- b.onnx");
  add_model_pair(app, options->question);
  OptionGroup(app, "Rows")
      .add_flag(
          "--costs", options->costs,
          "What changed in the costs of a step instead: symprof profile A -- B, with all options "
          "of that command");
  add_row_options(app, *options);
  const OptionGroup output(app, "Output");
  add_format_option(output, options->format, Verb::compare);
  output.add("--width", options->width, "N", "Letters of each side with --format rows (60)");
  output.add_flag("--all", options->all, "Also list equal rows, one by one, in the table");
  add_output_options(app, options->output);
  return [options] { return run(*options); };
}

}  // namespace symprof::cli
