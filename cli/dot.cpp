// symprof dot: a drawing of a model's graph for graphviz.
#include <memory>

#include "base/error.h"
#include "cli/command.h"
#include "cli/model_output.h"
#include "cli/setting_options.h"
#include "report/columns.h"
#include "report/rows.h"
#include "session/read_text.h"
#include "session/session.h"
#include "workbench/draw/dot.h"

namespace symprof::cli {
namespace {

struct Options {
  SettingTexts model;
  std::string colour;
  bool open = false, no_modules = false;
  OutputOptions output;
};

workbench::NodeCosts costs(const Options& options) {
  workbench::NodeCosts costs;
  if (options.colour.empty()) return costs;
  const auto column = report::find_column(options.colour);
  if (!column || report::is_text(*column)) {
    std::vector<std::string> accepted;
    for (const report::Column known : report::columns())
      if (!report::is_text(known)) accepted.emplace_back(name(known));
    settings::reject(SettingRef{"colour"}, options.colour, accepted);
  }
  Session session(options.model.model);
  const Profile profile = session.profile(read_settings(options.model));
  const auto rows = report::rows(profile, {});
  for (std::size_t i = 0; i < rows.size() && i < profile.nodes.size(); ++i)
    if (const auto value = report::figure(rows[i], *column, report::Unit::flops))
      costs[profile.recording.nodes[i].name] = *value;
  return costs;
}

int run(const Options& options) {
  check_output(options.output);
  const std::string& path = options.model.model;
  check_is_onnx(path, "dot");
  const workbench::Model model = workbench::read_model(path, workbench::Weights::skip);
  const workbench::FoldedGraph graph = workbench::folded_graph(
      *model, {.folds = !options.open, .has_modules = !options.no_modules}, path);
  fmt::memory_buffer out;
  workbench::write_dot(out, graph, costs(options));
  write_output(options.output, {out.data(), out.size()}, Readers::programs);
  return done;
}

}  // namespace

Run add_dot(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  app.description(
      "A drawing of an ONNX model for graphviz: modules as clusters, layers drawn once.");
  app.footer(
      "Examples:\n"
      "  symprof dot llama.onnx | dot -Tsvg -o llama.svg\n"
      "  symprof dot llama.onnx --colour fwd_flops --set batch=2 -o llama.dot");
  app.add_flag("--open", options->open, "Every copy of a repeated block is drawn")
      ->group("Drawing");
  app.add_flag("--no-modules", options->no_modules, "No clusters for modules")->group("Drawing");
  app.add_option("--colour", options->colour, "A figure of symprof profile that colours the nodes")
      ->type_name("FIGURE")
      ->group("Drawing");
  add_setting_options(app, options->model);
  add_output_options(app, options->output);
  return [options] { return run(*options); };
}

}  // namespace symprof::cli
