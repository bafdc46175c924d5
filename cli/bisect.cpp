// symprof bisect: the smallest part of two models that still differs, as two models.
#include <fmt/format.h>

#include <memory>

#include "base/error.h"
#include "cli/command.h"
#include "cli/model_output.h"
#include "cli/model_pair.h"
#include "cli/output.h"
#include "trace/numpy/array_archive.h"
#include "workbench/compare/bisect.h"
#include "workbench/constants.h"

namespace symprof::cli {
namespace {

struct Options {
  ModelPair models;
  std::optional<double> tolerance;
  OutputOptions output;
};

/// bfloat16, which numpy has not, as float32, which has all its numbers.
trace::numpy::Array array_of(const ConstantTensor& tensor) {
  if (tensor.spec.dtype != DType::bfloat16) return {.spec = tensor.spec, .data = tensor.data};
  const auto wide =
      workbench::make_constant(DType::float32, tensor.spec.sizes, workbench::reals_of(tensor));
  return {.spec = wide->spec, .data = wide->data};
}

/// Writes PREFIX.a.onnx and PREFIX.a.npz, or those of side b.
void write_part(const workbench::BisectPart& part, const std::string& source, char side,
                const Options& options) {
  OutputOptions file = options.output;
  file.file = fmt::format("{}.{}.onnx", options.output.file, side);
  write_model(file, part.model, source);
  std::map<std::string, trace::numpy::Array> arrays;
  for (const auto& [name, value] : part.inputs) arrays[name] = array_of(*value);
  const std::string inputs = fmt::format("{}.{}.npz", options.output.file, side);
  trace::numpy::write_arrays(arrays, inputs);
  fmt::print("{}  {} nodes, inputs in {}\n", file.file, part.nodes, inputs);
}

int run(const Options& options) {
  if (options.output.file.empty())
    throw Error("-o", "the parts are models.", "Name what their files begin with: -o PART.");
  check_output(options.output);
  const BisectAnswer answer = bisect_models(options.models, options.tolerance);
  if (!answer.found) {
    fmt::print("outputs agree within {:g}: there is nothing to look for\n", answer.tolerance);
    return answer_is_no;
  }
  const workbench::Bisected& found = *answer.found;
  if (found.is_whole) fmt::print("no part alone differs: these are the whole models\n");
  fmt::print("{} of A and {} of B differ by {:.3g}, {:.3g} relative", found.result_a,
             found.result_b, found.difference.absolute, found.difference.relative);
  fmt::print("{}\n", found.difference.other.empty() ? "" : ": " + found.difference.other);
  write_part(found.a, options.models.a, 'a', options);
  write_part(found.b, options.models.b, 'b', options);
  return done;
}

}  // namespace

Run add_bisect(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  options->models.functions = "inline";
  app.description(
      "The smallest part of two models whose values still differ, as two models to rerun.");
  app.footer(
      "Examples:\n"
      "  symprof bisect llama.onnx llama.small.onnx -o part\n"
      "  symprof compare part.a.onnx part.b.onnx --inputs part.a.npz --inputs part.b.npz\n"
      "  symprof bisect llama.onnx llama.onnx --backend torch:onnxruntime -o part");
  add_model_pair(app, options->models);
  app.add_option("--tolerance", options->tolerance,
                 "Allowed error of a value x, times max(1, |x|) (1e-5; 1e-2 where a model has "
                 "float16 or bfloat16)")
      ->type_name("X")
      ->group("Rows");
  app.add_option("-o,--output", options->output.file,
                 "The parts are PREFIX.a.onnx and PREFIX.b.onnx, their inputs PREFIX.a.npz and "
                 "PREFIX.b.npz")
      ->type_name("PREFIX")
      ->group("Output");
  return [options] { return run(*options); };
}

}  // namespace symprof::cli
