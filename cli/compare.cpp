// symprof compare: two models side by side, value by value.
#include <fmt/format.h>

#include <memory>

#include "base/error.h"
#include "cli/command.h"
#include "cli/compare_report.h"
#include "cli/compare_sides.h"
#include "cli/model_output.h"
#include "cli/output.h"
#include "session/read_text.h"
#include "workbench/compare/table.h"
#include "workbench/inline.h"

namespace symprof::cli {
namespace {

using workbench::AlignBy;

enum class CompareMode { values, nodes };
constexpr settings::Named<CompareMode> modes[] = {{"values", CompareMode::values},
                                                  {"nodes", CompareMode::nodes}};
constexpr settings::Named<AlignBy> alignments[] = {{"best", AlignBy::best},
                                                   {"edit", AlignBy::edit}};
enum class CompareFormat { table, rows, json };
constexpr settings::Named<CompareFormat> formats[] = {
    {"table", CompareFormat::table}, {"rows", CompareFormat::rows}, {"json", CompareFormat::json}};

struct Options {
  CompareModels models;
  std::string mode = "values", align = "best", format = "table";
  std::optional<double> tolerance;
  std::size_t width = 60;
  bool all = false;
  bool costs = false;  ///< Another command does that: compare_costs.h.
  OutputOptions output;
};

std::vector<workbench::Row> rows_of_nodes(const std::string& path, const Options& options) {
  check_is_onnx(path, "compare --mode nodes");
  const workbench::Model model = workbench::read_model(path, workbench::Weights::keep);
  workbench::inline_functions(*model, options.models.functions, path);
  return workbench::node_rows(*model, path);
}

CompareResult compare_nodes(const Options& options, AlignBy align) {
  CompareResult result{.a = options.models.a, .b = options.models.b};
  workbench::Comparison& found = result.comparison;
  found.a = rows_of_nodes(result.a, options);
  found.b = rows_of_nodes(result.b, options);
  found.alignment = align == AlignBy::edit ? workbench::align_edit(found.a, found.b)
                                           : workbench::align_best(found.a, found.b);
  found.notes.resize(found.alignment.pairs.size());
  return result;
}

CompareResult compare_values(const Options& options, AlignBy align) {
  const workbench::ValueRunner torch = value_runner();
  auto [a, b] = open_sides(options.models, torch);
  give_inputs(a.side, b.side, options.models, torch);
  CompareResult result{.a = a.side.path,
                       .b = b.side.path,
                       .backend_a = a.backend,
                       .backend_b = b.backend,
                       .inputs = inputs_text(a.side),
                       .has_run = true};
  result.comparison =
      compare(a.side, a.runner, b.side, b.runner, {.align = align, .tolerance = options.tolerance});
  return result;
}

void print(const CompareResult& result, const Options& options, CompareFormat format) {
  fmt::memory_buffer out;
  if (format == CompareFormat::json)
    write_compare_json(out, result);
  else if (format == CompareFormat::rows)
    write_rows(result.comparison.a, result.comparison.b, result.comparison.alignment, options.width,
               out);
  else
    write_compare_table(out, result, options.all, layout_of(options.output));
  write_output(options.output, {out.data(), out.size()},
               format == CompareFormat::table ? Readers::people : Readers::programs);
}

int run(const Options& options) {
  const CompareMode mode = settings::choose(SettingRef{"mode"}, options.mode, modes);
  const AlignBy align = settings::choose(SettingRef{"align"}, options.align, alignments);
  const CompareFormat format = settings::choose(SettingRef{"format"}, options.format, formats);
  check_output(options.output);
  const CompareResult result =
      mode == CompareMode::nodes ? compare_nodes(options, align) : compare_values(options, align);
  print(result, options, format);
  return result.has_run && !result.comparison.outputs_agree() ? answer_is_no : done;
}

void add_row_options(CLI::App& app, Options& options) {
  app.add_option("--mode", options.mode,
                 "values: both models run, and a row has a result; nodes: nothing runs (.onnx)")
      ->type_name("MODE")
      ->group("Rows");
  app.add_option("--align", options.align,
                 "best: rows pair by values, by what they read and by names, whatever their order; "
                 "edit: the edit distance of onnx-array-api, to the row")
      ->type_name("HOW")
      ->group("Rows");
  app.add_option("--tolerance", options.tolerance,
                 "How far a value x may be off, times max(1, |x|) (1e-5; 1e-2 where a model has "
                 "float16 or bfloat16)")
      ->type_name("X")
      ->group("Rows");
}

}  // namespace

Run add_compare(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  app.description("Two models side by side: which values belong together, and where they part.");
  app.footer(
      "Examples:\n"
      "  symprof compare llama.onnx llama.small.onnx\n"
      "  symprof compare llama.pt2 llama.onnx --tolerance 1e-4\n"
      "  symprof compare a.onnx b.onnx --inputs input_ids=ids.npy --format json\n"
      "  symprof compare llama.onnx llama.onnx --backend torch:onnxruntime\n"
      "  symprof compare a.onnx b.onnx --align edit --format rows --width 90\n"
      "  symprof compare --costs a.onnx --by module -- b.onnx");
  add_compare_models(app, options->models);
  app.add_flag(
         "--costs", options->costs,
         "What changed in the costs of a step instead: symprof profile A -- B, with all options "
         "of that command")
      ->group("Rows");
  add_row_options(app, *options);
  app.add_option("--format", options->format, "table, rows (the lines of onnx-array-api) or json")
      ->type_name("FORMAT")
      ->group("Output");
  app.add_option("--width", options->width, "Letters of each side with --format rows (60)")
      ->type_name("N")
      ->group("Output");
  app.add_flag("--all", options->all, "Also rows that are alike, one by one, in the table")
      ->group("Output");
  add_output_options(app, options->output);
  return [options] { return run(*options); };
}

}  // namespace symprof::cli
