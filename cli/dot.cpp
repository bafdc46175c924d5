// symprof dot: a drawing of a model's graph, for graphviz, a browser or Model Explorer.
#include <filesystem>
#include <memory>
#include <optional>

#include "base/error.h"
#include "cli/command.h"
#include "cli/graphviz.h"
#include "cli/model_output.h"
#include "cli/setting_options.h"
#include "report/columns.h"
#include "report/format_number.h"
#include "report/rows.h"
#include "session/read_text.h"
#include "session/session.h"
#include "workbench/draw/dot.h"
#include "workbench/draw/node_data.h"
#include "workbench/draw/page.h"

namespace symprof::cli {
namespace {

enum class Format { dot, svg, html, model_explorer };
constexpr settings::Named<Format> formats[] = {{"dot", Format::dot},
                                               {"svg", Format::svg},
                                               {"html", Format::html},
                                               {"model-explorer", Format::model_explorer}};
constexpr const char* page_columns = "fwd_flops,bwd_flops,param,output,accumulate,moved";

struct Options {
  SettingTexts model;
  std::string colour, columns, format = "dot";
  bool open = false, no_modules = false;
  OutputOptions output;
};

report::Column figure_column(const std::string& name) {
  const auto column = report::find_column(name);
  if (column && !report::is_text(*column)) return *column;
  std::vector<std::string> accepted;
  for (const report::Column known : report::columns())
    if (!report::is_text(known)) accepted.emplace_back(report::name(known));
  settings::reject(SettingRef{"colour"}, name, accepted);
}

workbench::NodeCosts costs(const Options& options, const std::string& figure) {
  workbench::NodeCosts costs;
  if (figure.empty()) return costs;
  const report::Column column = figure_column(figure);
  Session session(options.model.model);
  const Profile profile = session.profile(read_settings(options.model));
  const auto rows = report::rows(profile, {});
  for (std::size_t i = 0; i < rows.size() && i < profile.nodes.size(); ++i)
    if (const auto value = report::figure(rows[i], column, report::Unit::flops))
      costs[profile.recording.nodes[i].name] = *value;
  return costs;
}

workbench::PageCosts::Cell cell(const report::Row& row, report::Column column) {
  const auto value = report::figure(row, column, report::Unit::flops);
  if (!value) return {-1, "?"};
  if (column.figure->unit == profile::FigureUnit::bytes)
    return {*value, report::format_bytes(*value)};
  const report::Quantity scaled = report::scale_count(*value, report::Precision::decimals);
  return {*value, scaled.unit.empty() ? scaled.number : scaled.number + " " + scaled.unit};
}

workbench::PageCosts page_costs(const Options& options) {
  workbench::PageCosts costs;
  std::vector<report::Column> columns;
  for (const std::string& word :
       settings::split_list(options.columns.empty() ? page_columns : options.columns)) {
    columns.push_back(figure_column(word));
    costs.titles.push_back(report::title(columns.back(), report::Unit::flops));
  }
  Session session(options.model.model);
  const Profile profile = session.profile(read_settings(options.model));
  const auto rows = report::rows(profile, {});
  for (std::size_t i = 0; i < rows.size() && i < profile.nodes.size(); ++i)
    for (const report::Column column : columns)
      costs.cells[profile.recording.nodes[i].name].push_back(cell(rows[i], column));
  return costs;
}

void write_page(fmt::memory_buffer& out, const workbench::FoldedGraph& graph,
                const Options& options) {
  workbench::PageCosts costs;
  try {
    costs = page_costs(options);
  } catch (const Error& error) {
    // A page without costs is what a graph gets that cannot be profiled; who asked is told.
    if (!options.columns.empty()) throw;
    warn(options.output, "the page has no costs: " + error.summary());
  }
  workbench::write_page(out, graph, costs,
                        std::filesystem::path(options.model.model).filename().string());
}

int run(const Options& options) {
  check_output(options.output);
  const std::string& path = options.model.model;
  const Format format = settings::choose(SettingRef{"format"}, options.format, formats);
  check_is_onnx(path, "dot");
  const workbench::Model model = workbench::read_model(path, workbench::Weights::skip);
  fmt::memory_buffer out;
  if (format == Format::model_explorer) {
    const std::string figure = options.colour.empty() ? "fwd_flops" : options.colour;
    workbench::write_model_explorer(out, *model, figure, costs(options, figure));
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
      workbench::write_dot(out, graph, costs(options, options.colour));
    if (format == Format::svg) out = svg_of({out.data(), out.size()});
  }
  write_output(options.output, {out.data(), out.size()}, Readers::programs);
  return done;
}

}  // namespace

Run add_dot(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  app.description(
      "A drawing of an ONNX model: modules as clusters, layers drawn once; or a page for a "
      "browser.");
  app.footer(
      "Examples:\n"
      "  symprof dot llama.onnx --format svg -o llama.svg\n"
      "  symprof dot llama.onnx --colour fwd_flops --set batch=2 -o llama.dot\n"
      "  symprof dot llama.onnx --format html -o llama.html\n"
      "  symprof dot llama.onnx --format model-explorer --colour accumulate -o llama.json");
  app.add_option("--format", options->format,
                 "dot (graphviz' language), svg (needs graphviz), html (a page: pan, zoom, open "
                 "modules, search, click a node) or model-explorer (node data for Google's Model "
                 "Explorer)")
      ->type_name("FORMAT")
      ->group("Drawing");
  app.add_flag("--open", options->open, "Every copy of a repeated block is drawn")
      ->group("Drawing");
  app.add_flag("--no-modules", options->no_modules, "No clusters for modules")->group("Drawing");
  app.add_option("--colour", options->colour, "A figure of symprof profile that colours the nodes")
      ->type_name("FIGURE")
      ->group("Drawing");
  app.add_option("--columns", options->columns,
                 "Figures of symprof profile in a page (" + std::string(page_columns) + ")")
      ->type_name("LIST")
      ->group("Drawing");
  add_setting_options(app, options->model);
  add_output_options(app, options->output);
  return [options] { return run(*options); };
}

}  // namespace symprof::cli
