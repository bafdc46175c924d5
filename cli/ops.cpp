// symprof ops: the operators with a cost rule, and the confidence of their figures.
#include <memory>

#include "cli/command.h"
#include "cli/formats.h"
#include "cli/output.h"
#include "profile/operators/operators.h"
#include "report/profile/ops.h"
#include "session/read_text.h"
#include "session/session.h"

namespace symprof::cli {
namespace ops_command {
namespace {

struct Options {
  OutputOptions output;
  std::string format;
  bool onnx = false;
};

void write_onnx(fmt::memory_buffer& out, Format format) {
  const std::vector<std::string> ops = onnx_operators();
  if (format == Format::json)
    report::write_onnx_ops_json(out, ops);
  else
    report::write_onnx_ops(out, ops);
}

void write_aten(fmt::memory_buffer& out, Format format, const report::Layout& layout) {
  if (format == Format::json)
    report::write_ops_json(out, profile::operators());
  else
    report::write_ops(out, profile::operators(), layout);
}

int run(const Options& options) {
  const Format format = read_format(Verb::ops, options.format);
  check_output(options.output);
  fmt::memory_buffer out;
  if (options.onnx)
    write_onnx(out, format);
  else
    write_aten(out, format, layout_of(options.output));
  write_result(options.output, out, format);
  return done;
}

}  // namespace
}  // namespace ops_command

Run add_ops(CLI::App& app) {
  using namespace ops_command;
  const auto options = std::make_shared<Options>();
  app.description("The operators whose cost is known: exact, modelled or free.");
  app.footer(
      "Examples:\n  symprof ops\n  symprof ops --onnx\n  symprof ops --format json -o ops.json");
  add_format_option({app, "Output"}, options->format, Verb::ops);
  OptionGroup(app, "Output")
      .add_flag("--onnx", options->onnx, "The ONNX operators that a model file may have");
  add_output_options(app, options->output);
  return [options] { return run(*options); };
}

}  // namespace symprof::cli
