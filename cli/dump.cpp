// symprof dump and symprof restore: inputs and outputs of calls inside a model, in one file, and
// their use.
#include <fmt/format.h>

#include <memory>

#include "base/error.h"
#include "cli/command.h"
#include "cli/formats.h"
#include "cli/output.h"
#include "report/measure/dump.h"
#include "session/files.h"
#include "session/onnx/dump.h"

namespace symprof::cli {
namespace dump_command {
namespace {

struct DumpSettings {
  DumpQuestion question;
  std::string format;
  OutputOptions output;
};

struct RestoreSettings {
  std::string dump, as, format;
  ReplayQuestion question;
  OutputOptions output;
};

/// Prints a listing to standard output, also with -o.
void print(const fmt::memory_buffer& out, Format format) { write_result({}, out, format); }

void print(const trace::dump::Dump& dump, const std::string& path, Format format) {
  fmt::memory_buffer out;
  if (format == Format::json)
    report::write_dump_json(out, dump, path, report::leaves_of(dump, "*"));
  else
    report::write_dump(out, dump, path);
  print(out, format);
}

int run_dump(const DumpSettings& given) {
  const Format format = read_format(Verb::dump, given.format);
  check_output(given.output);
  if (given.output.file.empty())
    throw Error("-o", "a dump is no text for a terminal.", "Name the file to write: -o DUMP.onnx.");
  const trace::dump::Dump dump = dump_calls(given.question);
  symprof::write_dump(dump, given.output.file);
  for (const trace::dump::LeftOut& left : dump.left_out)
    warn(given.output,
         fmt::format("{} is larger than --limit and left out.",
                     trace::dump::key_text({left.name, left.iteration, left.side, {}})));
  if (!given.output.quiet) print(dump, given.output.file, format);
  return done;
}

int run_replay(const RestoreSettings& given, const trace::dump::Dump& dump, Format format) {
  const std::string& model = given.question.path;
  const std::vector<workbench::ReplayedCall> calls = replay_dump(dump, given.question);
  fmt::memory_buffer out;
  if (format == Format::json)
    report::write_replay_json(out, calls, given.dump, model);
  else
    report::write_replay(out, calls, given.dump, model);
  write_result(given.output, out, format);
  return are_within(calls, model) ? done : answer_is_no;
}

int run_restore(const RestoreSettings& given) {
  const Format format = read_format(Verb::restore, given.format);
  check_output(given.output);
  if (!given.as.empty() && !given.question.path.empty())
    throw Error("--replay", "a replay exports nothing.", "Leave out --as or --replay.");
  const trace::dump::Dump dump = trace::dump::read_dump(given.dump);
  if (!given.question.path.empty()) return run_replay(given, dump, format);
  if (!given.as.empty()) {
    if (given.output.file.empty())
      throw Error("-o", "tensors are no text for a terminal.", "Name where they go with -o.");
    write_files(given.output.file,
                report::exported(report::leaves_of(dump, given.question.entry), given.as));
    return done;
  }
  fmt::memory_buffer out;
  if (format == Format::json)
    report::write_dump_json(out, dump, given.dump, report::leaves_of(dump, "*"));
  else
    report::write_dump(out, dump, given.dump);
  write_result(given.output, out, format);
  return done;
}

}  // namespace
}  // namespace dump_command

Run add_dump(CLI::App& app) {
  using namespace dump_command;
  const auto given = std::make_shared<DumpSettings>();
  app.description("The inputs and outputs of chosen modules and nodes of a model, in one file.");
  app.footer(
      "Examples:\n"
      "  symprof dump llama.onnx --module 'layers.*.self_attn' -o attention.onnx\n"
      "  symprof dump llama.onnx --module '' --module 'layers.*' --runs 3 -o layers.onnx\n"
      "  symprof dump llama.pt2 --module 'model.layers.*' -o layers.onnx\n"
      "  symprof restore attention.onnx --replay llama.optimized.onnx");
  app.add_option("MODEL", given->question.path, model_file)->required()->type_name("");
  const OptionGroup calls(app, "Calls");
  calls.add_each("--module", given->question.modules, "GLOB",
                 "Modules whose path matches; * stands for one component, '' for the whole model");
  calls.add_each("--node", given->question.nodes, "GLOB", "Nodes whose name matches");
  calls.add_flag("--weights", given->question.weights,
                 "Also dump weights: those of a module once, those of a node as its inputs");
  calls.add("--limit", given->question.limit, "BYTES",
            "Leave out inputs, outputs or weights of a call that are larger (128MiB)");
  const OptionGroup runs(app, "Runs");
  runs.add("--runs", given->question.runs, "N",
           "How often the model runs, each time on other inputs (1)");
  runs.add("--seed", given->question.seed, "N", "Other random inputs for another seed (0)");
  runs.add_each("--set", given->question.sizes, "NAME=SIZE",
                "Size of a symbolic dimension (default: 2, 3, …)");
  runs.add_each("--input", given->question.shapes, "NAME=DTYPE[DIMS]",
                "Shape of an input of a TorchScript file (repeatable)");
  add_format_option({app, "Output"}, given->format, Verb::dump, ": the listing");
  add_output_options(app, given->output);
  return [given] { return run_dump(*given); };
}

Run add_restore(CLI::App& app) {
  using namespace dump_command;
  const auto given = std::make_shared<RestoreSettings>();
  app.description("Lists or exports a dump, or replays it with another model.");
  app.footer(
      "Dumps are those of symprof dump, and of onnx-diagnostic's steal_forward.\n\n"
      "Examples:\n"
      "  symprof restore attention.onnx\n"
      "  symprof restore attention.onnx --as npz -o attention.npz\n"
      "  symprof restore attention.onnx --replay llama.optimized.onnx --tolerance 1e-3");
  app.add_option("DUMP", given->dump, "A dump")->required()->type_name("");
  const OptionGroup what(app, "Entries");
  what.add("--entry", given->question.entry, "GLOB",
           "Only modules or nodes whose name matches (*)");
  what.add("--as", given->as, "FORM",
           "Export: npz or safetensors into one file, npy or raw into a new folder");
  what.add("--replay", given->question.path, "MODEL",
           "Run the parts of this model (of any format) on the dumped inputs and compare with the "
           "dumped outputs; exit code 1 where values differ");
  what.add_each("--set", given->question.sizes, "NAME=SIZE",
                "Size of a symbolic dimension of a .pt2");
  what.add_each("--input", given->question.shapes, "NAME=DTYPE[DIMS]",
                "Shape of an input of a TorchScript file (repeatable)");
  what.add("--tolerance", given->question.tolerance, "X",
           "Allowed error of a value x, times max(1, |x|) (1e-4; 1e-2 for outputs of float16, "
           "bfloat16 or smaller)");
  add_format_option({app, "Output"}, given->format, Verb::restore);
  add_output_options(app, given->output);
  return [given] { return run_restore(*given); };
}

}  // namespace symprof::cli
