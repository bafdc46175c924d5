// symprof show: a graph as text, and a part of it as a model.
#include <fmt/format.h>

#include <memory>

#include "base/error.h"
#include "base/setting.h"
#include "cli/command.h"
#include "cli/model_output.h"
#include "cli/option_group.h"
#include "cli/setting_options.h"
#include "report/onnx/listing.h"
#include "report/onnx/node_costs.h"
#include "report/onnx/pretty.h"
#include "report/profile/read_rows.h"
#include "session/read_text.h"
#include "session/session.h"
#include "workbench/cut.h"
#include "workbench/inline.h"

namespace symprof::cli {
namespace show_command {
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

report::CostColumns costs(Session& session, const Settings& settings, const Options& options) {
  if (options.columns.empty()) return {};
  return report::listed_costs(session.profile(settings), report::read_columns(options.columns));
}

report::Listing listing(const Options& options, Session& session, const Settings& settings) {
  const std::string& path = options.model.model;
  if (const Graph* graph = session.file()) return report::listing_of(*graph, path);
  return report::listing_of(session.prepare(settings).graph, path);
}

void write(const Options& options, const fmt::memory_buffer& out) {
  write_output(options.output, {out.data(), out.size()}, Readers::people);
}

report::ListingOptions listing_options(const Options& options) {
  report::ListingOptions listing;
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
  report::ListingOptions how = listing_options(options);
  how.costs = costs(session, settings, options);
  fmt::memory_buffer out;
  report::write_listing(out, listing(options, session, settings), how);
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
    report::write_pretty(out, *model);
  } else {
    workbench::infer_types(*model);
    report::ListingOptions how = listing_options(options);
    if (!options.columns.empty()) {
      Session session(path);
      how.costs = costs(session, settings, options);
    }
    report::write_listing(out, report::listing_of(*model, path), how);
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
}  // namespace show_command

Run add_show(CLI::App& app) {
  using namespace show_command;
  const auto options = std::make_shared<Options>();
  app.description("The graph of a model as text; a part of it as a model.");
  app.footer(
      "Examples:\n"
      "  symprof show llama.onnx\n"
      "  symprof show llama.onnx --columns fwd_flops,accumulate --set batch=2\n"
      "  symprof show llama.onnx --grep 'MatMul|Gemm'\n"
      "  symprof show llama.onnx --from embedding --to softmax -o part.onnx\n"
      "  symprof show llama.onnx --style pretty --functions inline");
  const OptionGroup shown(app, "What is shown");
  shown.add("--style", options->style, "STYLE",
            "listing, or pretty: the text of onnx-array-api and onnx-diagnostic, to the letter");
  shown.add("--columns", options->columns, "LIST", "Figures of symprof profile before each node");
  shown.add("--grep", options->grep, "REGEX",
            "Only nodes whose line, name or module this expression matches");
  shown.add("--functions", options->functions, "HOW", "keep, inline, or a glob of those to inline");
  shown.add_each("--from", options->from, "NAME",
                 "A value, or a node: the part begins there (repeatable)");
  shown.add_each("--to", options->to, "NAME",
                 "A value, or a node: the part ends there (repeatable)");
  add_setting_options(app, options->model, Verb::show);
  add_output_options(app, options->output);
  return [options] { return run(*options); };
}

}  // namespace symprof::cli
