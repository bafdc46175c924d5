// symprof dot: a drawing of a model's graph, for graphviz, a browser or Model Explorer.
#include <filesystem>
#include <memory>
#include <optional>

#include "base/error.h"
#include "cli/command.h"
#include "cli/formats.h"
#include "cli/setting_options.h"
#include "report/onnx/dot.h"
#include "report/onnx/node_costs.h"
#include "report/onnx/node_data.h"
#include "report/onnx/page.h"
#include "report/profile/columns.h"
#include "report/write/graphviz.h"
#include "session/onnx/models.h"
#include "session/read_text.h"
#include "session/session.h"

namespace symprof::cli {
namespace dot_command {
namespace {

constexpr const char* page_columns = "fwd_flops,bwd_flops,param,output,accumulate,moved";

struct Options {
  SettingTexts model;
  std::string color, columns, format;
  bool open = false, no_modules = false;
  OutputOptions output;
};

report::Column figure_column(const std::string& name) {
  const auto column = report::find_column(name);
  if (column && !report::is_text(*column)) return *column;
  std::vector<std::string> accepted;
  for (const report::Column known : report::columns())
    if (!report::is_text(known)) accepted.emplace_back(report::name(known));
  settings::reject(SettingRef{"color"}, name, accepted);
}

Profile profile_of(const Options& options) {
  return Session(options.model.model).profile(read_settings(options.model));
}

report::NodeCosts costs(const Options& options, const std::string& figure) {
  if (figure.empty()) return {};
  const report::Column column = figure_column(figure);
  return report::drawn_costs(profile_of(options), column);
}

report::PageCosts page_costs(const Options& options) {
  std::vector<report::Column> columns;
  for (const std::string& word :
       settings::split_list(options.columns.empty() ? page_columns : options.columns))
    columns.push_back(figure_column(word));
  return report::page_costs(profile_of(options), columns);
}

void write_page(fmt::memory_buffer& out, const workbench::FoldedGraph& graph,
                const Options& options) {
  report::PageCosts costs;
  try {
    costs = page_costs(options);
  } catch (const Error& error) {
    // A graph that cannot be profiled gets a page without costs, unless the user requested costs.
    if (!options.columns.empty()) throw;
    warn(options.output, "the page has no costs: " + error.summary());
  }
  report::write_page(out, graph, costs,
                     std::filesystem::path(options.model.model).filename().string());
}

int run(const Options& options) {
  check_output(options.output);
  const std::string& path = options.model.model;
  const Format format = read_format(Verb::dot, options.format);
  check_is_onnx(path, "dot");
  const workbench::Model model = workbench::read_model(path, workbench::Weights::skip);
  fmt::memory_buffer out;
  if (format == Format::model_explorer) {
    const std::string figure = options.color.empty() ? "fwd_flops" : options.color;
    report::write_model_explorer(out, *model, figure, costs(options, figure));
  } else {
    const bool is_page = format == Format::html;
    const workbench::FoldedGraph graph =
        workbench::folded_graph(*model,
                                {.folds = !options.open && !is_page,
                                 .has_modules = !options.no_modules,
                                 .has_details = is_page},
                                path);
    if (is_page)
      write_page(out, graph, options);
    else
      report::write_dot(out, graph, costs(options, options.color));
    if (format == Format::svg) out = report::svg_of({out.data(), out.size()});
  }
  write_result(options.output, out, format);
  return done;
}

}  // namespace
}  // namespace dot_command

Run add_dot(CLI::App& app) {
  using namespace dot_command;
  const auto options = std::make_shared<Options>();
  app.description(
      "A drawing of an ONNX model: modules as clusters, layers drawn once; or a page for a "
      "browser.");
  app.footer(
      "Examples:\n"
      "  symprof dot llama.onnx --format svg -o llama.svg\n"
      "  symprof dot llama.onnx --color fwd_flops --set batch=2 -o llama.dot\n"
      "  symprof dot llama.onnx --format html -o llama.html\n"
      "  symprof dot llama.onnx --format model-explorer --color accumulate -o llama.json");
  const OptionGroup drawing(app, "Drawing");
  add_format_option(drawing, options->format, Verb::dot);
  drawing.add_flag("--open", options->open, "Draw every copy of a repeated block");
  drawing.add_flag("--no-modules", options->no_modules, "No clusters for modules");
  drawing.add("--color", options->color, "FIGURE",
              "A figure of symprof profile that colors the nodes");
  drawing.add("--columns", options->columns, "LIST",
              "Figures of symprof profile in a page (" + std::string(page_columns) + ")");
  add_setting_options(app, options->model, Verb::dot);
  add_output_options(app, options->output);
  return [options] { return run(*options); };
}

}  // namespace symprof::cli
