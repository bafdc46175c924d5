// symprof inline, partition, strip and fill: an ONNX model in, another one out.
#include <fmt/format.h>

#include <memory>

#include "base/error.h"
#include "cli/command.h"
#include "cli/model_output.h"
#include "cli/option_group.h"
#include "report/write/format_number.h"
#include "session/onnx/models.h"
#include "workbench/archives.h"
#include "workbench/inline.h"
#include "workbench/partition.h"
#include "workbench/weights.h"

namespace symprof::cli {
namespace model_commands {
namespace {

struct Options {
  std::string model;
  std::vector<std::string> globs;
  std::int64_t largest = workbench::largest_kept_by_strip;
  std::uint64_t seed = 0;
  OutputOptions output;
};

using Change = std::string (*)(onnx::ModelProto& model, const Options& options);

int run_change(const Options& options, const char* command, Change change) {
  check_output(options.output);
  check_is_onnx(options.model, command);
  const workbench::Model model = workbench::read_model(options.model, workbench::Weights::keep);
  const std::string what = change(*model, options);
  write_model(options.output, model, options.model);
  if (!options.output.quiet) fmt::print("{}: {}\n", options.output.file, what);
  return done;
}

std::string inline_chosen(onnx::ModelProto& model, const Options& options) {
  const auto report = workbench::inline_functions(
      model,
      [&](const onnx::FunctionProto& function) {
        for (const std::string& glob : options.globs)
          if (workbench::matches(glob, function)) return false;
        return true;
      },
      options.model);
  for (const std::string& kept : report.kept) warn(options.output, "function not inlined: " + kept);
  return fmt::format("{} calls inlined", report.calls);
}

std::string partition(onnx::ModelProto& model, const Options& options) {
  const auto report = workbench::partition(model, options.globs);
  for (const std::string& left : report.left)
    warn(options.output, "module not a function: " + left);
  return fmt::format("{} modules are calls of {} functions", report.calls, report.functions);
}

std::string stripped_text(const workbench::WeightsReport& report) {
  return fmt::format("{} tensors of {} taken out", report.tensors,
                     report::format_bytes(report.bytes));
}

std::string filled_text(const workbench::WeightsReport& report) {
  return fmt::format("{} tensors of {} filled", report.tensors, report::format_bytes(report.bytes));
}

std::string strip(onnx::ModelProto& model, const Options& options) {
  return stripped_text(workbench::strip(model, options.largest));
}

std::string fill(onnx::ModelProto& model, const Options& options) {
  return filled_text(workbench::fill(model, options.model, options.seed));
}

/// The same commands for .pt2 and .pt, which are archives.
using ArchiveChange = workbench::WeightsReport (*)(const Options& options);

int run_weights(const Options& options, const char* command, Change change,
                ArchiveChange archive_change,
                std::string (*text)(const workbench::WeightsReport&)) {
  if (!workbench::is_archive(options.model)) return run_change(options, command, change);
  check_output(options.output);
  if (options.output.file.empty())
    throw Error("-o", "a model is no text for a terminal.", "Name the file to write: -o OUT.");
  const std::string what = text(archive_change(options));
  if (!options.output.quiet) fmt::print("{}: {}\n", options.output.file, what);
  return done;
}

std::shared_ptr<Options> add_common(CLI::App& app, const char* description, const char* examples,
                                    const char* model = "An ONNX model") {
  auto options = std::make_shared<Options>();
  app.description(description);
  app.footer(std::string("Example:\n  ") + examples);
  app.add_option("MODEL", options->model, model)->required()->type_name("");
  add_output_options(app, options->output);
  return options;
}

void add_globs(CLI::App& app, const char* name, Options& options, const char* help) {
  OptionGroup(app, "What changes").add_each(name, options.globs, "GLOB", help);
}

}  // namespace
}  // namespace model_commands

Run add_inline(CLI::App& app) {
  using namespace model_commands;
  const auto options =
      add_common(app, "Puts the local functions of an ONNX model where they are called.",
                 "symprof inline llama.onnx --keep 'LlamaLayer*' -o flat.onnx");
  add_globs(app, "--keep", *options, "Functions that stay, by name or domain.name (repeatable)");
  return [options] { return run_change(*options, "inline", inline_chosen); };
}

Run add_partition(CLI::App& app) {
  using namespace model_commands;
  const auto options =
      add_common(app, "Makes modules of an ONNX model local functions, by its nodes' metadata.",
                 "symprof partition llama.onnx --modules 'layers.*' -o layers.onnx");
  add_globs(app, "--modules", *options,
            "Modules by path (repeatable; default: elements of lists, such as layers.0)");
  return [options] { return run_change(*options, "partition", partition); };
}

Run add_strip(CLI::App& app) {
  using namespace model_commands;
  const auto options =
      add_common(app, "Takes the weights out of a model; profiling needs none.",
                 "symprof strip llama.onnx -o llama.graph.onnx", "A model (.onnx, .pt2, .pt)");
  OptionGroup(app, "What changes")
      .add("--largest", options->largest, "BYTES", "Tensors of up to so many bytes stay (4096)");
  return [options] {
    return run_weights(
        *options, "strip", strip,
        [](const Options& given) {
          return workbench::strip_archive(given.model, given.output.file, given.largest);
        },
        stripped_text);
  };
}

Run add_fill(CLI::App& app) {
  using namespace model_commands;
  const auto options = add_common(
      app, "Gives random weights to a model that has none, the same each time.",
      "symprof fill llama.graph.onnx --seed 1 -o llama.random.onnx", "A model (.onnx, .pt2, .pt)");
  OptionGroup(app, "What changes")
      .add("--seed", options->seed, "N", "Other numbers for another seed (0)");
  return [options] {
    return run_weights(
        *options, "fill", fill,
        [](const Options& given) {
          return workbench::fill_archive(given.model, given.output.file, given.seed);
        },
        filled_text);
  };
}

}  // namespace symprof::cli
