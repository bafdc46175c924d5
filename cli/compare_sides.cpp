#include "cli/compare_sides.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/error.h"
#include "session/read_text.h"
#include "session/session.h"
#include "session/setting_table.h"
#include "trace/numpy/array_archive.h"
#include "workbench/inline.h"
#include "workbench/onnxruntime/runner.h"

namespace symprof::cli {
namespace {

enum class Backend { torch, onnxruntime };
constexpr settings::Named<Backend> backends[] = {{"torch", Backend::torch},
                                                 {"onnxruntime", Backend::onnxruntime}};

constexpr std::int64_t most_elements = std::int64_t{1} << 30;

Settings settings_of(const CompareModels& models) {
  Settings settings;
  settings.mode = Mode::inference;
  for (const std::string& size : models.sizes) settings::set(settings, "sizes", size);
  for (const std::string& shape : models.shapes) settings::set(settings, "inputs", shape);
  return settings;
}

std::shared_ptr<const ConstantTensor> constant_of(trace::numpy::Array array) {
  auto constant = std::make_shared<ConstantTensor>();
  constant->spec = std::move(array.spec);
  constant->data = std::move(array.data);
  return constant;
}

/// "torch:onnxruntime": A's and B's; one word: that of both.
std::pair<Backend, Backend> backends_of(const std::string& text) {
  const SettingRef where{"backend"};
  const std::size_t colon = text.find(':');
  const Backend a = settings::choose(where, text.substr(0, colon), backends);
  return {a, colon == text.npos ? a : settings::choose(where, text.substr(colon + 1), backends)};
}

OpenedSide open_archive(const std::string& path, const CompareModels& models, Backend backend,
                        const workbench::ValueRunner& torch) {
  if (backend != Backend::torch)
    throw Error(SettingRef{"backend", models.backend},
                fmt::format("{} is no ONNX model, which is what onnxruntime runs", path),
                "Name a backend for each side: torch:onnxruntime, onnxruntime:torch.");
  Session session(path);
  return {.side = workbench::side_of(session.prepare(settings_of(models)).graph, path, torch),
          .model = nullptr,
          .runner = torch,
          .runner_of = nullptr,
          .backend = "torch"};
}

workbench::RunnerMaker runner_maker(Backend backend, const workbench::ValueRunner& torch) {
  if (backend == Backend::torch) return [torch](const auto&, const auto&) { return torch; };
  return [torch](const workbench::Model& model, const std::string& path) {
    return workbench::onnxruntime_runner(model, path, torch);
  };
}

OpenedSide open_side(const std::string& path, const CompareModels& models,
                     workbench::Training training, Backend backend,
                     const workbench::ValueRunner& torch) {
  if (workbench::is_archive(path)) return open_archive(path, models, backend, torch);
  workbench::Model model = workbench::read_model(path, workbench::Weights::keep);
  workbench::inline_functions(*model, models.functions, path);
  workbench::RunnerMaker runner_of = runner_maker(backend, torch);
  workbench::ValueRunner runner = runner_of(model, path);
  return {.side = workbench::side_of(*model, path, training),
          .model = std::move(model),
          .runner = std::move(runner),
          .runner_of = std::move(runner_of),
          .backend = backend == Backend::torch ? "torch"
                                               : "onnxruntime " + workbench::onnxruntime_version()};
}

}  // namespace

void add_compare_models(CLI::App& app, CompareModels& models) {
  app.add_option("A", models.a, "A model: .onnx, .pt2 (torch.export) or .pt (TorchScript)")
      ->required()
      ->type_name("");
  app.add_option("B", models.b, "Another one, of any of these formats")->required()->type_name("");
  const auto add = [&](const char* name, std::vector<std::string>& texts, const char* help,
                       const char* type) {
    app.add_option(name, texts, help)->type_name(type)->allow_extra_args(false)->group("Inputs");
  };
  add("--inputs", models.inputs,
      "Values of inputs that numpy saved: NAME=FILE.npy or FILE.npz (repeatable); random without",
      "FILE");
  add("--set", models.sizes, "Size of a symbolic dimension (2, 3, … without; repeatable)",
      "NAME=SIZE");
  add("--input", models.shapes,
      "Shape of an input that a TorchScript file does not tell (repeatable)", "NAME=DTYPE[DIMS]");
  app.add_option("--seed", models.seed, "Other random inputs for another seed (0)")
      ->type_name("N")
      ->group("Inputs");
  app.add_flag("--random-weights", models.random_weights,
               "The same random weights for both, by name: only the graphs are compared")
      ->group("Inputs");
  app.add_option("--functions", models.functions,
                 "Local functions of ONNX models: keep (a call is a row), inline, or a glob of "
                 "those to inline")
      ->type_name("HOW")
      ->group("Rows");
  app.add_option(
         "--backend", models.backend,
         "What computes values: torch (symprof's interpreter) or onnxruntime (ONNX Runtime's "
         "library, where it is here), or one for each side: torch:onnxruntime")
      ->type_name("WHICH")
      ->group("Inputs");
}

std::pair<OpenedSide, OpenedSide> open_sides(const CompareModels& models,
                                             const workbench::ValueRunner& torch) {
  const auto [of_a, of_b] = backends_of(models.backend);
  const bool is_mixed = workbench::is_archive(models.a) || workbench::is_archive(models.b);
  const auto training = is_mixed ? workbench::Training::off : workbench::Training::as_written;
  return {open_side(models.a, models, training, of_a, torch),
          open_side(models.b, models, training, of_b, torch)};
}

workbench::ValueRunner::Leaves read_inputs(const std::vector<std::string>& texts) {
  workbench::ValueRunner::Leaves inputs;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals != text.npos && text.ends_with(".npy")) {
      inputs[text.substr(0, equals)] =
          constant_of(trace::numpy::read_array(text.substr(equals + 1), most_elements));
      continue;
    }
    if (!text.ends_with(".npz"))
      throw Error("--inputs", fmt::format("'{}' is neither NAME=FILE.npy nor FILE.npz", text),
                  "numpy.save and numpy.savez write such files.");
    for (auto& [name, array] : trace::numpy::read_arrays(text, most_elements))
      inputs[name] = constant_of(std::move(array));
  }
  return inputs;
}

void give_inputs(workbench::Side& a, workbench::Side& b, const CompareModels& models,
                 const workbench::ValueRunner& runner) {
  workbench::SharedInputs inputs{.given = read_inputs(models.inputs),
                                 .seed = models.seed,
                                 .random_weights = models.random_weights};
  const Settings settings = settings_of(models);
  inputs.sizes.insert(settings.sizes.begin(), settings.sizes.end());
  give_inputs(a, b, {.a = runner.bounds(a.graph), .b = runner.bounds(b.graph)}, inputs);
}

}  // namespace symprof::cli
