// symprof show: a graph as text, and a part of it as a model.
#include <fmt/format.h>

#include <memory>

#include "base/setting.h"
#include "cli/command.h"
#include "cli/model_output.h"
#include "cli/profile_options.h"
#include "cli/setting_options.h"
#include "report/columns.h"
#include "report/format_number.h"
#include "report/rows.h"
#include "session/read_text.h"
#include "session/session.h"
#include "workbench/cut.h"
#include "workbench/inline.h"
#include "workbench/show/listing.h"
#include "workbench/show/pretty.h"

namespace symprof::cli {
namespace {

enum class Style { listing, pretty };
constexpr settings::Named<Style> styles[] = {{"listing", Style::listing},
                                             {"pretty", Style::pretty}};

struct Options {
  SettingTexts model;
  std::string style = "listing", functions = "keep", columns, grep;
  std::vector<std::string> from, to;
  OutputOptions output;

  bool writes_model() const { return output.file.ends_with(".onnx"); }
  bool cuts() const { return !from.empty() || !to.empty(); }
};

std::string cell(const report::Row& row, report::Column column) {
  if (report::is_text(column)) return report::text_of(row, column);
  const auto value = report::figure(row, column, report::Unit::flops);
  if (!value || *value == 0) return value ? "0" : "";
  using profile::FigureUnit;
  const auto scaled = column.figure->unit == FigureUnit::bytes
                          ? report::scale_bytes(*value, report::Precision::decimals)
                          : report::scale_count(*value, report::Precision::decimals);
  return report::is_time(*column.figure) ? report::plain_text(*column.figure, *value)
                                         : scaled.number + " " + scaled.unit;
}

/// What each node costs, by its name; functions that are calls in the file are sums.
workbench::CostColumns costs(Session& session, const Settings& settings, const Options& options) {
  workbench::CostColumns costs;
  if (options.columns.empty()) return costs;
  std::vector<report::Column> columns;
  for (const std::string& word : settings::split_list(options.columns)) {
    columns.push_back(parse_column(SettingRef{"columns"}, word));
    costs.titles.push_back(report::title(columns.back(), report::Unit::flops));
  }
  const Profile profile = session.profile(settings);
  const auto rows = report::rows(profile, {});
  for (std::size_t i = 0; i < rows.size() && i < profile.nodes.size(); ++i) {
    auto& cells = costs.cells[profile.recording.nodes[i].name];
    for (const report::Column column : columns) cells.push_back(cell(rows[i], column));
  }
  return costs;
}

workbench::Listing listing(const Options& options, Session& session, const Settings& settings) {
  const std::string& path = options.model.model;
  if (const Graph* graph = session.file()) return workbench::listing_of(*graph, path);
  return workbench::listing_of(session.prepare(settings).graph, path);
}

void write(const Options& options, const fmt::memory_buffer& out) {
  write_output(options.output, {out.data(), out.size()}, Readers::people);
}

workbench::ListingOptions listing_options(const Options& options) {
  workbench::ListingOptions listing;
  listing.grep = options.grep;
  listing.layout = layout_of(options.output);
  return listing;
}

int show_archive(const Options& options, const Settings& settings) {
  if (options.cuts() || options.writes_model() || options.style == "pretty")
    throw Error(options.model.model,
                "no ONNX model: parts, the pretty style and -o of a model are for these.",
                "Export the model with torch.onnx.export, or leave these options out.");
  Session session(options.model.model);
  workbench::ListingOptions how = listing_options(options);
  how.costs = costs(session, settings, options);
  fmt::memory_buffer out;
  write_listing(out, listing(options, session, settings), how);
  write(options, out);
  return done;
}

int show_onnx(const Options& options, const Settings& settings) {
  const std::string& path = options.model.model;
  const bool pretty = settings::choose(SettingRef{"style"}, options.style, styles) == Style::pretty;
  using workbench::Weights;
  const workbench::Model model = workbench::read_model(path, options.writes_model() ? Weights::keep
                                                             : pretty               ? Weights::small
                                                                      : Weights::skip);
  for (const std::string& kept : workbench::inline_functions(*model, options.functions, path).kept)
    warn(options.output, "function not inlined: " + kept);
  if (options.cuts()) workbench::cut(*model, options.from, options.to, path);
  if (options.writes_model()) {
    write_model(options.output, model, path);
    return done;
  }
  fmt::memory_buffer out;
  if (pretty) {
    workbench::write_pretty(out, *model);
  } else {
    workbench::infer_types(*model);
    workbench::ListingOptions how = listing_options(options);
    if (!options.columns.empty()) {
      Session session(path);
      how.costs = costs(session, settings, options);
    }
    write_listing(out, workbench::listing_of(*model, path), how);
  }
  write(options, out);
  return done;
}

int run(const Options& options) {
  check_output(options.output);
  const Settings settings = read_settings(options.model);
  return workbench::is_archive(options.model.model) ? show_archive(options, settings)
                                                    : show_onnx(options, settings);
}

}  // namespace

Run add_show(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  app.description("The graph of a model as text; a part of it as a model.");
  app.footer(
      "Examples:\n"
      "  symprof show llama.onnx\n"
      "  symprof show llama.onnx --columns fwd_flops,accumulate --set batch=2\n"
      "  symprof show llama.onnx --grep 'MatMul|Gemm'\n"
      "  symprof show llama.onnx --from embedding --to softmax -o part.onnx\n"
      "  symprof show llama.onnx --style pretty --functions inline");
  const auto add = [&](const char* name, std::string& text, const char* help, const char* type) {
    app.add_option(name, text, help)->type_name(type)->group("What is shown");
  };
  add("--style", options->style,
      "listing, or pretty: the text of onnx-array-api and onnx-diagnostic, to the letter", "STYLE");
  add("--columns", options->columns, "Figures of symprof profile before each node", "LIST");
  add("--grep", options->grep, "Only nodes whose line, name or module this expression matches",
      "REGEX");
  add("--functions", options->functions, "keep, inline, or a glob of those to inline", "HOW");
  const auto add_names = [&](const char* name, std::vector<std::string>& names, const char* help) {
    app.add_option(name, names, help)
        ->type_name("NAME")
        ->allow_extra_args(false)
        ->group("What is shown");
  };
  add_names("--from", options->from, "A value, or a node: the part begins there (repeatable)");
  add_names("--to", options->to, "A value, or a node: the part ends there (repeatable)");
  add_setting_options(app, options->model);
  add_output_options(app, options->output);
  return [options] { return run(*options); };
}

}  // namespace symprof::cli
