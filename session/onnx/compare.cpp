#include "session/onnx/compare.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>

#include "base/error.h"
#include "session/inference_settings.h"
#include "session/onnx/models.h"
#include "session/read_text.h"
#include "session/session.h"
#include "trace/numpy/array_archive.h"
#include "workbench/compare/inputs.h"
#include "workbench/constants.h"
#include "workbench/inline.h"
#include "workbench/onnxruntime/runner.h"

namespace symprof {
namespace {

enum class Backend { torch, onnxruntime };
constexpr settings::Named<Backend> backends[] = {{"torch", Backend::torch},
                                                 {"onnxruntime", Backend::onnxruntime}};

/// The modes: `values` runs the models, `nodes` does not.
constexpr settings::Named<bool> modes[] = {{"values", true}, {"nodes", false}};
constexpr settings::Named<workbench::AlignBy> alignments[] = {{"best", workbench::AlignBy::best},
                                                              {"edit", workbench::AlignBy::edit}};

/// One of the models, and what computes its values.
struct OpenedSide {
  workbench::Side side;
  workbench::Model model;  ///< With its functions opened; null of another format.
  workbench::ValueRunner runner;
  workbench::RunnerMaker runner_of;  ///< The same of parts of the model.
  std::string backend;
};

constexpr std::int64_t most_elements = std::int64_t{1} << 30;

Settings settings_of(const ModelPair& models) {
  return inference_settings(models.sizes, models.shapes);
}

std::shared_ptr<const ConstantTensor> constant_of(trace::numpy::Array array) {
  auto constant = std::make_shared<ConstantTensor>();
  constant->spec = std::move(array.spec);
  constant->data = std::move(array.data);
  return constant;
}

/// "torch:onnxruntime": the backends of A and B; one word: that of both.
std::pair<Backend, Backend> backends_of(const std::string& text) {
  const SettingRef where{"backend"};
  const std::size_t colon = text.find(':');
  const Backend a = settings::choose(where, text.substr(0, colon), backends);
  return {a, colon == text.npos ? a : settings::choose(where, text.substr(colon + 1), backends)};
}

OpenedSide open_archive(const std::string& path, const ModelPair& models, Backend backend,
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

OpenedSide open_side(const std::string& path, const ModelPair& models, workbench::Training training,
                     Backend backend, const workbench::ValueRunner& torch) {
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

std::pair<OpenedSide, OpenedSide> open_sides(const ModelPair& models,
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
      throw Error(text, "values of inputs are neither NAME=FILE.npy nor FILE.npz.",
                  "numpy.save and numpy.savez write such files.");
    for (auto& [name, array] : trace::numpy::read_arrays(text, most_elements))
      inputs[name] = constant_of(std::move(array));
  }
  return inputs;
}

void give_inputs(workbench::Side& a, workbench::Side& b, const ModelPair& models,
                 const workbench::ValueRunner& runner) {
  workbench::SharedInputs inputs{.given = read_inputs(models.inputs),
                                 .seed = models.seed,
                                 .random_weights = models.random_weights};
  const Settings settings = settings_of(models);
  inputs.sizes.insert(settings.sizes.begin(), settings.sizes.end());
  workbench::give_inputs(a, b, {.a = runner.bounds(a.graph), .b = runner.bounds(b.graph)}, inputs);
}

std::vector<workbench::Row> rows_of_nodes(const std::string& path, const ModelPair& models) {
  check_is_onnx(path, "compare by nodes");
  const workbench::Model model = workbench::read_model(path, workbench::Weights::keep);
  workbench::inline_functions(*model, models.functions, path);
  return workbench::node_rows(*model, path);
}

CompareAnswer compare_nodes(const CompareQuestion& question, workbench::AlignBy align) {
  CompareAnswer answer{.a = question.a, .b = question.b};
  workbench::Comparison& found = answer.comparison;
  found.a = rows_of_nodes(answer.a, question);
  found.b = rows_of_nodes(answer.b, question);
  found.alignment = align == workbench::AlignBy::edit ? workbench::align_edit(found.a, found.b)
                                                      : workbench::align_best(found.a, found.b);
  found.notes.resize(found.alignment.pairs.size());
  return answer;
}

/// bfloat16, which numpy has not, as float32, which has all its numbers.
trace::numpy::Array array_of(const ConstantTensor& tensor) {
  if (tensor.spec.dtype != DType::bfloat16) return {.spec = tensor.spec, .data = tensor.data};
  const auto wide =
      workbench::make_constant(DType::float32, tensor.spec.sizes, workbench::reals_of(tensor));
  return {.spec = wide->spec, .data = wide->data};
}

void write_part(const workbench::BisectPart& part, const std::string& source, char side,
                const std::string& prefix) {
  write_model(part.model, source, model_of_part(prefix, side));
  std::map<std::string, trace::numpy::Array> arrays;
  for (const auto& [name, value] : part.inputs) arrays[name] = array_of(*value);
  trace::numpy::write_arrays(arrays, inputs_of_part(prefix, side));
}

workbench::BisectSide part_of(const OpenedSide& opened) {
  return {opened.side, *opened.model, opened.runner, opened.runner_of};
}

}  // namespace

CompareAnswer compare_models(const CompareQuestion& question) {
  const bool runs = settings::choose(SettingRef{"mode"}, question.mode, modes);
  const workbench::AlignBy align =
      settings::choose(SettingRef{"align"}, question.align, alignments);
  if (!runs) return compare_nodes(question, align);
  const workbench::ValueRunner torch = value_runner();
  auto [a, b] = open_sides(question, torch);
  give_inputs(a.side, b.side, question, torch);
  CompareAnswer answer{.a = a.side.path,
                       .b = b.side.path,
                       .backend_a = a.backend,
                       .backend_b = b.backend,
                       .inputs = inputs_text(a.side),
                       .has_run = true};
  answer.comparison = compare(a.side, a.runner, b.side, b.runner,
                              {.align = align, .tolerance = question.tolerance});
  return answer;
}

BisectAnswer bisect_models(const BisectQuestion& question) {
  for (const std::string& path : {question.a, question.b}) check_is_onnx(path, "bisect");
  const workbench::ValueRunner torch = value_runner();
  auto [a, b] = open_sides(question, torch);
  give_inputs(a.side, b.side, question, torch);
  const workbench::Comparison comparison =
      compare(a.side, a.runner, b.side, b.runner, {.tolerance = question.tolerance});
  BisectAnswer answer{.tolerance = comparison.tolerance};
  if (!comparison.outputs_agree())
    answer.found = workbench::bisect({.a = part_of(a), .b = part_of(b), .comparison = comparison});
  return answer;
}

std::string model_of_part(const std::string& prefix, char side) {
  return fmt::format("{}.{}.onnx", prefix, side);
}

std::string inputs_of_part(const std::string& prefix, char side) {
  return fmt::format("{}.{}.npz", prefix, side);
}

void write_parts(const workbench::Bisected& found, const ModelPair& models,
                 const std::string& prefix) {
  write_part(found.a, models.a, 'a', prefix);
  write_part(found.b, models.b, 'b', prefix);
}

}  // namespace symprof
