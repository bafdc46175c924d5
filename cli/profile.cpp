// symprof profile: what each node of a model costs, before it runs.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/command.h"
#include "cli/profile_options.h"
#include "cli/progress.h"
#include "cli/torch_library.h"
#include "profile/profile.h"
#include "report/csv.h"
#include "report/json.h"
#include "report/table.h"
#include "trace/graph.h"
#include "trace/passes/training_mode.h"
#include "trace/torchscript/load.h"

namespace symprof::cli {
namespace {

bool has_parameters(const Graph& graph) {
  return std::any_of(graph.values.begin(), graph.values.end(),
                     [](const Value& value) { return value.kind == ValueKind::parameter; });
}

trace::TrainingMode training_mode(Mode mode) {
  return mode == Mode::train ? trace::TrainingMode::train : trace::TrainingMode::eval;
}

void decide_mode(const Graph& graph, ProfileOptions& options) {
  options.step.mode = options.mode.value_or(has_parameters(graph) ? Mode::train : Mode::inference);
}

// A script's options decide what its graph is, so they come first.
Graph load_script(TorchLibrary& torch, ProfileOptions& options) {
  trace::TorchScriptOptions script{.inputs = options.inputs, .bindings = options.bindings};
  if (options.mode) script.mode = training_mode(*options.mode);
  script.dtype = options.dtype;
  script.gradients = options.mode != Mode::inference;
  Graph graph = torch.get().load_torchscript(options.model, script);
  decide_mode(graph, options);
  trace::set_training_mode(graph, training_mode(options.step.mode));
  return graph;
}

Graph load_exported(ProfileOptions& options) {
  Graph graph = trace::load(options.model);
  decide_mode(graph, options);
  trace::set_training_mode(graph, training_mode(options.step.mode));
  if (options.dtype) trace::cast_floating_point(graph, *options.dtype);
  trace::bind_inputs(graph, options.inputs, options.bindings);
  return graph;
}

void print(const Profile& profile, const ProfileOptions& options) {
  fmt::memory_buffer out;
  switch (options.format) {
    case ProfileFormat::table:
      report::write_table(out, profile, options.step, options.rows, options.columns,
                          layout_of(options.output));
      break;
    case ProfileFormat::json:
      report::write_json(out, profile, options.step);
      break;
    case ProfileFormat::csv:
      report::write_csv(out, profile, options.rows, options.columns);
      // The one format with no place for them.
      for (const std::string& warning : profile.warnings) warn(options.output, warning);
      break;
  }
  write_output(options.output, {out.data(), out.size()});
}

int run(const ProfileText& text) {
  ProfileOptions options = parse_profile_options(text);
  ProgressBar progress(options.output);
  options.step.progress = progress.callback();

  TorchLibrary torch;  // Starts while the file is read.
  const Graph graph =
      trace::is_torchscript(options.model) ? load_script(torch, options) : load_exported(options);
  Recording recording = torch.get().propagate(graph, options.step);
  const Profile profile = profile::evaluate(std::move(recording), options.step.device);
  print(profile, options);
  return done;
}

std::string column_list() {
  std::string text = "Columns:\n";
  for (const report::ColumnInfo& column : report::columns())
    text += fmt::format("  {:<12} {}\n", column.key, column.meaning);
  return text;
}

}  // namespace

Run add_profile(CLI::App& app) {
  const auto text = std::make_shared<ProfileText>();
  app.description("What each node of a model costs, forward and backward, before it runs.");
  app.footer(column_list() +
             "\nExamples:\n"
             "  symprof profile vit_b_16.pt2\n"
             "  symprof profile resnet50.pt --input x=float32[8,3,224,224]\n"
             "  symprof profile gpt2.onnx --set batch=8 --by module --depth 3 --device a100-80g\n"
             "  symprof profile llama.pt2 --optimizer adamw --format json -o llama.json");
  add_profile_options(app, *text);
  return [text] { return run(*text); };
}

}  // namespace symprof::cli
