#include "session/session.h"
#include "session/opened_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "base/checked.h"
#include "base/error.h"
#include "base/nearest.h"
#include "measure/run.h"
#include "profile/memory/step_memory.h"
#include "profile/operators/operators.h"
#include "profile/parallel/parallelize.h"
#include "profile/step_time.h"
#include "session/mesh.h"
#include "session/parallel_step.h"
#include "session/parallel_times.h"
#include "session/paths.h"
#include "session/setting_table.h"
#include "session/sizes_of_step.h"
#include "session/torch_library.h"
#include "trace/graph/recorded_specs.h"
#include "trace/load.h"
#include "trace/passes/prepare.h"
#include "trace/passes/unregistered_tensors.h"

namespace symprof {
namespace {

/// Names of the files in a missing file's folder, for a suggestion.
std::vector<std::string> files_beside(const std::filesystem::path& path) {
  std::vector<std::string> names;
  std::error_code error;
  const auto folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  for (auto entry = std::filesystem::directory_iterator(folder, error);
       !error && entry != std::filesystem::directory_iterator(); entry.increment(error))
    names.push_back(path.has_parent_path() ? entry->path().string()
                                           : entry->path().filename().string());
  return names;
}

trace::ModelFile open_file(const std::string& path) {
  constexpr auto wanted = "Name a model file (.pt2, .pt or .onnx).";
  std::error_code error;
  if (path == "-" && !std::filesystem::exists(path, error))
    throw Error(path, "standard input is not read.", wanted);
  if (trace::file_of(path) != path) return trace::open(path);
  if (std::filesystem::is_directory(path, error)) throw Error(path, "is a folder.", wanted);
  if (!std::filesystem::exists(path, error)) {
    const std::string suggestion = did_you_mean(path, files_beside(path));
    throw Error(path, "there is no such file.", suggestion.empty() ? wanted : suggestion);
  }
  return trace::open(path);
}

constexpr auto batch_name = "batch";

/// "idx [1000000000000, 64], targets [1000000000000, 64]"
std::string shapes_of_inputs(const Graph& graph) {
  std::vector<std::string> shapes;
  for (const ValueId id : graph.inputs)
    if (const Value& input = graph.value(id); input.spec)
      shapes.push_back(fmt::format("{} [{}]", input.name, fmt::join(input.spec->sizes, ", ")));
  return fmt::format("{}", fmt::join(shapes, ", "));
}

/// Modules whose saved tensors the plan keeps in host memory.
void add_offloaded(StepOptions& step) {
  for (const std::string& module : step.checkpoint_plan.offloaded)
    if (std::ranges::find(step.offload_saved, module) == step.offload_saved.end())
      step.offload_saved.push_back(module);
}

bool has_parameters(const Graph& graph) {
  return std::ranges::any_of(graph.values,
                             [](const Value& value) { return value.kind == ValueKind::parameter; });
}

}  // namespace

DeviceSpec device_of(const Settings& settings) {
  DeviceSpec device =
      settings.step.device.name.empty() ? find_device(default_device) : settings.step.device;
  if (settings.context_bytes) device.context_bytes = settings.context_bytes;
  if (settings.power_limit_watts) device.power_limit_watts = settings.power_limit_watts;
  if (settings.clock_limit_hz) device.clock_limit_hz = settings.clock_limit_hz;
  if (settings.mesh && !settings.mesh->links.empty())
    device.links = links_file(settings.mesh->links);
  return device;
}

void add_times(Profile& profile, const Settings& settings, const profile::OperatorTable* own) {
  if (!settings.time) return;
  const DeviceSpec device = device_of(settings);
  profile::TimeModel model = time_model_of(device, *settings.time);
  profile::add_times(profile, device, model, *settings.time, own, settings.step.checkpoint_plan);
  if (profile.recording.rank && settings.step.parallel)
    profile::add_collectives(profile, device,
                             timed_collectives(profile.recording, *settings.step.parallel, device));
}

Session::Session(const std::string& path) : model_(std::make_unique<OpenedModel>()) {
  model_->file = open_file(path);
}

Session::Session(trace::ModelFile file) : model_(std::make_unique<OpenedModel>()) {
  model_->file = std::move(file);
}

Session::~Session() = default;
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;

const Graph* Session::file() const { return model_->file.graph ? &*model_->file.graph : nullptr; }

/// The default mode: a model with parameters trains, unless it generates.
Mode Session::mode_of(const Settings& settings, const Graph& graph) const {
  const bool trains = has_parameters(graph) && !settings.step.kv_cache;
  return settings.mode.value_or(trains ? Mode::train : Mode::inference);
}

/// A trace may contain constants that its code computed from the batch: then it runs with its own
/// batch only, and the sizes that follow the batch are found from its calls.
Graph Session::script(const Settings& settings) {
  if (!given_size(settings, batch_name)) return follow_script(settings);
  try {
    return follow_script(settings);
  } catch (const Error& error) {
    return script_of_other_batch(settings, error);
  }
}

/// Throws `refusal` unless the trace's batch caused it.
Graph Session::script_of_other_batch(const Settings& settings, const Error& refusal) {
  Settings own = settings;
  std::erase_if(own.sizes, [](const auto& bound) { return bound.first == batch_name; });
  std::optional<Graph> graph;
  try {
    graph = follow_script(own);
  } catch (const Error&) {
    throw Error(refusal);
  }
  const std::int64_t wanted = *given_size(settings, batch_name);
  if (!trace::fixed_batch(*graph) || wanted < 1) throw Error(refusal);
  try {
    trace::set_batch(*graph, batch_plan(*graph, own), wanted);
  } catch (const Error& error) {
    throw trace::fixed_batch_error(*graph, wanted, error);
  }
  trace::bind_inputs(*graph, {}, {{batch_name, wanted}});
  return std::move(*graph);
}

trace::BatchPlan Session::batch_plan(const Graph& graph, const Settings& settings) {
  std::string key = fmt::format("{} {} {}", static_cast<int>(settings.step.unbacked),
                                static_cast<int>(settings.mode.value_or(Mode::train)),
                                settings.dtype ? symprof::name(*settings.dtype) : "");
  for (const trace::InputOverride& input : settings.inputs) key += " " + trace::to_string(input);
  for (const auto& [name, size] : settings.sizes)
    if (name != batch_name) key += fmt::format(" {}={}", name, size);
  const auto known = model_->batch_plans.find(key);
  if (known != model_->batch_plans.end()) return known->second;
  StepOptions step = settings.step;
  step.device = device_of(settings);
  return model_->batch_plans[key] = model_->torch.get().find_batch_plan(graph, step);
}

/// TorchScript is walked for each run: its calls depend on inputs, mode and dtype.
Graph Session::follow_script(const Settings& settings) {
  trace::TorchScriptOptions options{.inputs = settings.inputs, .bindings = settings.sizes};
  if (settings.mode) options.mode = trace::training_mode(*settings.mode);
  options.dtype = settings.dtype;
  options.gradients = settings.mode != Mode::inference && !settings.step.kv_cache;
  options.unbacked = settings.step.unbacked;
  options.python_sources = settings.python_sources;
  return model_->torch.get().load_torchscript(model_->file.path, options);
}

/// The rank of a pipeline whose loop reserves most.
PreparedModel Session::prepare_fullest(const Settings& settings) {
  std::optional<PreparedModel> fullest;
  std::int64_t most = 0;
  for (std::int64_t rank = 0; rank < settings.step.parallel->pipeline.ranks; ++rank) {
    Settings own = settings;
    own.step.parallel->pipeline.rank = rank;
    PreparedModel model = prepare(own);
    const StepMemory memory =
        profile::simulate_step_memory(record(model.graph, model.settings.step),
                                      model.settings.step.device, {.loop = model.settings.loop});
    if (fullest && memory.peak_reserved_bytes <= most) continue;
    most = memory.peak_reserved_bytes;
    fullest = std::move(model);
  }
  return std::move(*fullest);
}

PreparedModel Session::prepare(const Settings& settings) {
  if (asks_for_fullest_rank(settings)) return prepare_fullest(settings);
  settings::check(settings);
  if (model_->file.graph && !model_->file.graph->traits.has_python_lines &&
      !settings.python_sources.empty())
    throw Error(
        SettingRef{"python_sources"},
        "it is for traces (torch.jit.trace) and .pt2 files, and " + model_->file.path + " is none.",
        "Leave it out.");
  PreparedModel model{.graph = model_->file.graph ? *model_->file.graph : script(settings),
                      .settings = settings,
                      .given = settings};
  if (model_->file.graph && !settings.python_sources.empty())
    trace::note_unregistered_tensors_of_export(model.graph, settings.python_sources);
  model.settings.step.mode = mode_of(settings, model.graph);
  model.settings.step.device = device_of(settings);
  add_offloaded(model.settings.step);
  use_mesh(model.settings);
  if (model.settings.step.parallel) start_parallel(model.settings, model.graph);
  const auto specs_of = [&](const Graph& graph) {
    StepOptions step = model.settings.step;
    step.kv_cache.reset();
    step.sharded_update.reset();
    return trace::specs_of(graph, model_->torch.get().propagate(graph, step));
  };
  trace::prepare(model.graph, {.inputs = settings.inputs,
                               .sizes = settings.sizes,
                               .dtype = dtype_that_runs(model.settings),
                               .step = model.settings.step,
                               .specs_of = specs_of,
                               .batch_plan_of = [&](const Graph& graph) {
                                 return batch_plan(graph, model.settings);
                               }});
  if (model.settings.step.parallel) choose_wrapped(model.settings, model.graph);
  return model;
}

Recording Session::record(const Graph& graph, const StepOptions& step) {
  return profile::parallelize(model_->torch.get().propagate(graph, step), step);
}

Recording Session::record(const Settings& settings) {
  const PreparedModel model = prepare(settings);
  return record(model.graph, model.settings.step);
}

measure::Run Session::measure(const PreparedModel& model, const measure::RunOptions& options) {
  if (model.settings.step.parallel)
    throw Error(SettingRef{"parallel"}, "one device is measured.", "Leave it out.");
  return model_->torch.measuring().run_on_device(model.graph, model.settings.step, options);
}

Profile Session::profile(const Settings& settings) { return profile(prepare(settings)); }

Profile Session::profile(const PreparedModel& model) try {
  Profile profile = profile::evaluate(record(model.graph, model.settings.step),
                                      model.settings.step.device, model.settings.loop);
  add_times(profile, model.settings);
  if (has_pipeline_time(model.settings))
    add_pipeline_time({.ran = model.settings,
                       .given = model.given,
                       .device = device_of(model.settings),
                       .record = [this](const Settings& settings) { return record(settings); }},
                      profile);
  if (model_->file.graph)
    profile.sizes = sizes_of_step(*model_->file.graph, model.graph, model.settings.sizes);
  return profile;
} catch (const CountOverflow& overflow) {
  throw Error(shapes_of_inputs(model.graph), overflow.problem(), overflow.advice());
}

std::vector<std::string> onnx_operators() { return TorchLibrary().get().lowered_operators(); }

}  // namespace symprof
