// symprof bisect: the smallest part of two models that still differs, as two models.
#include <fmt/format.h>

#include <memory>

#include "base/error.h"
#include "cli/command.h"
#include "cli/model_pair.h"
#include "cli/option_group.h"
#include "cli/output.h"
#include "report/compare/bisect.h"

namespace symprof::cli {
namespace bisect_command {
namespace {

struct Options {
  BisectQuestion question;
  OutputOptions output;
};

int run(const Options& options) {
  const std::string& prefix = options.output.file;
  if (prefix.empty())
    throw Error("-o", "the parts are models.", "Name what their files begin with: -o PART.");
  check_output(options.output);
  const BisectAnswer answer = bisect_models(options.question);
  if (answer.found) write_parts(*answer.found, options.question, prefix);
  fmt::memory_buffer out;
  report::write_bisect(out, answer, prefix);
  write_output({}, {out.data(), out.size()}, Readers::programs);
  return answer.found ? done : answer_is_no;
}

}  // namespace
}  // namespace bisect_command

Run add_bisect(CLI::App& app) {
  using namespace bisect_command;
  const auto options = std::make_shared<Options>();
  app.description(
      "The smallest part of two models whose values still differ, as two models to rerun.");
  app.footer(
      "Examples:\n"
      "  symprof bisect llama.onnx llama.small.onnx -o part\n"
      "  symprof compare part.a.onnx part.b.onnx --inputs part.a.npz --inputs part.b.npz\n"
      "  symprof bisect llama.onnx llama.onnx --backend torch:onnxruntime -o part");
  add_model_pair(app, options->question);
  OptionGroup(app, "Rows")
      .add("--tolerance", options->question.tolerance, "X",
           "Allowed error of a value x, times max(1, |x|) (1e-5; 1e-2 where a model has float16 or "
           "bfloat16)");
  OptionGroup(app, "Output")
      .add("-o,--output", options->output.file, "PREFIX",
           "The parts are PREFIX.a.onnx and PREFIX.b.onnx, their inputs PREFIX.a.npz and "
           "PREFIX.b.npz");
  return [options] { return run(*options); };
}

}  // namespace symprof::cli
