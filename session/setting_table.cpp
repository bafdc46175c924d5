#include "session/setting_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "base/nearest.h"
#include "session/checkpoint_file.h"
#include "session/devices.h"
#include "session/mesh.h"
#include "session/read_optimizer.h"
#include "session/read_parallel.h"
#include "session/read_text.h"
#include "session/setting_names.h"
#include "session/setting_values.h"

namespace symprof::settings {
namespace {

constexpr std::string_view input_group = "Inputs", model_group = "What runs",
                           update_group = "The update", memory_group = "Memory",
                           parallel_group = "Several GPUs", device_group = "The device";
constexpr std::string_view all_groups[] = {input_group,  model_group,    update_group,
                                           memory_group, parallel_group, device_group};

/// Settings of the update or of the loop's memory do not change a node's figures.
constexpr Verbs verbs_of_loops = verbs_of_steps - Verbs{Verb::show, Verb::dot};
/// Settings of a step on several ranks; a single device is measured.
constexpr Verbs verbs_of_ranks = verbs_of_steps - Verbs{Verb::measure};
/// Settings that a running program cannot express itself.
constexpr Verbs verbs_of_programs = {Verb::run, Verb::profile_module};
/// Settings of a step that the package builds around a module.
constexpr Verbs verbs_of_made_steps = {Verb::profile_module};

/// Adds to a repeatable setting, each time with several patterns.
void add_patterns(std::vector<std::string>& patterns, const std::string& given) {
  for (std::string& pattern : split_list(given))
    if (std::ranges::find(patterns, pattern) == patterns.end())
      patterns.push_back(std::move(pattern));
}

void read_checkpoint(Settings& settings, const std::string& given) {
  StepOptions& step = settings.step;
  if (!is_plan_file(given)) return add_patterns(step.checkpoint, given);
  if (!step.checkpoint_plan.is_empty())
    throw Error(SettingRef{"checkpoint", given}, "there is another plan already.",
                "Give one plan, or modules beside it.");
  step.checkpoint_plan = load_checkpoint_plan(given);
}

/// Patterns, and the plan's file.
std::vector<std::string> checkpoints_of(const StepOptions& step) {
  std::vector<std::string> all = step.checkpoint;
  if (!step.checkpoint_plan.path.empty()) all.push_back(step.checkpoint_plan.path);
  return all;
}

/// Settings of the allocator accumulate: later ones are added to earlier ones.
void read_alloc_conf(Settings& settings, const std::string& given) {
  settings.alloc_conf += (settings.alloc_conf.empty() ? "" : ",") + given;
  settings.loop.allocator = profile::parse_allocator_settings(settings.alloc_conf);
}

std::vector<std::string> texts_of(const std::vector<trace::InputOverride>& inputs) {
  std::vector<std::string> texts;
  texts.reserve(inputs.size());
  for (const trace::InputOverride& input : inputs) texts.push_back(trace::to_string(input));
  return texts;
}

constexpr Setting rows[] = {
    {"mode", model_group, Arity::one, "MODE", +[] { return alternatives(modes); },
     [](Settings& s, const std::string& given) {
       s.mode = choose(SettingRef{"mode"}, given, modes);
     },
     [](const Settings& s) { return Value(text(name_of(modes, s.step.mode))); }, Needs::nothing,
     Alters::graph, verbs_of_steps | verbs_of_programs},
    {"loss", model_group, Arity::one, "LOSS", +[] { return alternatives(losses); },
     [](Settings& s, const std::string& given) {
       s.step.loss = choose(SettingRef{"loss"}, given, losses);
     },
     [](const Settings& s) { return Value(text(name_of(losses, s.step.loss))); }, Needs::backward},
    {"optimizer", update_group, Arity::one, "NAME", optimizer_help,
     [](Settings& s, const std::string& given) { read_optimizer(s.step, given); },
     [](const Settings& s) { return Value(optimizer_name(s.step)); }, Needs::backward, Alters::step,
     verbs_of_loops | verbs_of_made_steps},
    {"clip_grad_norm", update_group, Arity::flag, "",
     "clip_grad_norm_ of all gradients before the update (in the optimizer's row)",
     [](Settings& s, const std::string&) { s.step.clip_grad_norm = true; },
     [](const Settings& s) { return Value(s.step.clip_grad_norm); }, Needs::optimizer, Alters::step,
     verbs_of_loops},
    {"grad_scaler", update_group, Arity::flag, "",
     "Scale the loss and unscale the gradients with torch.amp.GradScaler, as fp16 needs it",
     [](Settings& s, const std::string&) { s.step.grad_scaler = true; },
     [](const Settings& s) { return Value(s.step.grad_scaler); }, Needs::optimizer, Alters::step,
     verbs_of_loops},
    {"master_weights", update_group, Arity::flag, "",
     "Update fp32 copies of the parameters in bf16 or fp16 (with {dtype} or of the file)",
     [](Settings& s, const std::string&) { s.step.master_weights = true; },
     [](const Settings& s) { return Value(s.step.master_weights); }, Needs::optimizer, Alters::step,
     verbs_of_loops},
    {"autocast", model_group, Arity::one, "DTYPE", "Run under autocast to bf16 or fp16",
     [](Settings& s, const std::string& given) {
       s.step.autocast = choose(SettingRef{"autocast"}, given, autocast_dtypes);
     },
     [](const Settings& s) { return dtype_value(s.step.autocast); }, Needs::nothing, Alters::step,
     verbs_of_steps | verbs_of_made_steps},
    {"attention", model_group, Arity::one, "KIND", +[] { return alternatives(attention_backends); },
     [](Settings& s, const std::string& given) {
       s.step.attention = choose(SettingRef{"attention"}, given, attention_backends);
     },
     [](const Settings& s) { return Value(text(name_of(attention_backends, s.step.attention))); },
     Needs::nothing, Alters::step, verbs_of_steps | verbs_of_programs},
    {"float32_matmul_precision", model_group, Arity::one, "KIND",
     +[] { return "Precision of fp32 products: " + alternatives(matmul_precisions); },
     [](Settings& s, const std::string& given) {
       s.step.float32_matmul_precision =
           choose(SettingRef{"float32_matmul_precision"}, given, matmul_precisions);
     },
     matmul_precision_value},
    {"lifetimes", memory_group, Arity::one, "KIND",
     "Free values with their Python variables (frames, the default), or after their last-use",
     [](Settings& s, const std::string& given) {
       s.step.lifetimes = choose(SettingRef{"lifetimes"}, given, lifetimes);
     },
     [](const Settings& s) { return Value(text(name_of(lifetimes, s.step.lifetimes))); },
     Needs::nothing, Alters::step, verbs_of_loops},
    {"split_bias", model_group, Arity::flag, "",
     "Separate rows for bias additions, apart from the product or convolution",
     [](Settings& s, const std::string&) { s.step.split_bias = true; },
     [](const Settings& s) { return Value(s.step.split_bias); }, Needs::nothing, Alters::graph},
    {"checkpoint", memory_group, Arity::several, "GLOB",
     "Modules whose activations are recomputed in backward: 'layers.*', or a plan (.json); "
     "repeatable",
     read_checkpoint, [](const Settings& s) { return Value(checkpoints_of(s.step)); },
     Needs::backward, Alters::graph},
    {"freeze", model_group, Arity::several, "GLOB",
     "Parameters, or modules with all their parameters, that are not trained: 'encoder'; "
     "repeatable",
     [](Settings& s, const std::string& given) { add_patterns(s.step.freeze, given); },
     [](const Settings& s) { return Value(s.step.freeze); }, Needs::backward, Alters::graph},
    {"offload_saved", memory_group, Arity::several, "GLOB",
     "Modules whose saved tensors are offloaded to host memory, as under save_on_cpu; '*' is all",
     [](Settings& s, const std::string& given) { add_patterns(s.step.offload_saved, given); },
     [](const Settings& s) { return Value(s.step.offload_saved); }, Needs::backward},
    {"kv_cache", model_group, Arity::one, "N",
     "Inference with N tokens in a key-value cache before the step; {sizes} gives the step's "
     "tokens",
     [](Settings& s, const std::string& given) {
       s.step.kv_cache = parse_count(SettingRef{"kv_cache"}, given, 0);
     },
     [](const Settings& s) { return s.step.kv_cache ? Value(*s.step.kv_cache) : Value(); },
     Needs::nothing, Alters::graph},
    {"unbacked", model_group, Arity::one, "KIND",
     "Sizes that depend on data (nonzero): refuse (the default), or max, their upper bounds",
     [](Settings& s, const std::string& given) {
       s.step.unbacked = choose(SettingRef{"unbacked"}, given, unbacked_sizes);
     },
     [](const Settings& s) { return Value(text(name_of(unbacked_sizes, s.step.unbacked))); },
     Needs::nothing, Alters::graph},
    {"assume_saved", model_group, Arity::one, "KIND",
     "What an operator without a rule saves for backward: nothing, its inputs, its outputs, or "
     "both",
     [](Settings& s, const std::string& given) {
       s.step.assume_saved = choose(SettingRef{"assume_saved"}, given, assumed_saved);
     },
     assumed_saved_value, Needs::backward},
    {"inputs", input_group, Arity::several, "SPEC",
     "Shape of an input, NAME=DTYPE[DIMS], and its values: 'n=int64[3]{8,6,4}'; repeatable",
     [](Settings& s, const std::string& given) {
       s.inputs.push_back(trace::parse_input_override(given));
     },
     [](const Settings& s) { return Value(texts_of(s.inputs)); }, Needs::nothing, Alters::graph},
    {"sizes", input_group, Arity::several, "NAME=SIZE",
     "Size of a named dimension: batch=8; repeatable",
     [](Settings& s, const std::string& given) { s.sizes.push_back(trace::parse_binding(given)); },
     [](const Settings& s) { return Value(s.sizes); }, Needs::nothing, Alters::graph},
    {"dtype", input_group, Arity::one, "DTYPE",
     "Convert the model to this dtype: bf16, fp16, fp32 or fp64",
     [](Settings& s, const std::string& given) {
       s.dtype = choose(SettingRef{"dtype"}, given, model_dtypes);
     },
     [](const Settings& s) { return dtype_value(s.dtype); }, Needs::nothing, Alters::graph},
    {"python_sources", input_group, Arity::several, "FOLDER",
     "Folders of the model's Python source, / for the paths in the file; repeatable. For a trace: "
     "variable lifetimes, dtypes, `with` blocks; for a .pt2: tensors that constructors make",
     [](Settings& s, const std::string& given) { s.python_sources.push_back(given); },
     [](const Settings& s) { return Value(s.python_sources); }, Needs::nothing, Alters::graph},
    {"alloc_conf", memory_group, Arity::one, "SETTINGS",
     "Settings of PyTorch's allocator, as in PYTORCH_ALLOC_CONF: expandable_segments:True; "
     "torch:2.11 selects PyTorch's version",
     read_alloc_conf, [](const Settings& s) { return Value(s.alloc_conf); }, Needs::nothing,
     Alters::step, verbs_of_loops | verbs_of_programs},
    {"cudnn_benchmark", memory_group, Arity::flag, "",
     "torch.backends.cudnn.benchmark (affects memory only): the first convolution of each shape "
     "tries all plans",
     [](Settings& s, const std::string&) { s.loop.cudnn_benchmark = true; },
     [](const Settings& s) { return Value(s.loop.cudnn_benchmark); }, Needs::nothing, Alters::step,
     verbs_of_loops},
    {"micro_batches", update_group, Arity::one, "N",
     "Gradient-accumulation steps (affects memory only; rows and FLOPs are per micro-batch)",
     [](Settings& s, const std::string& given) {
       s.loop.micro_batches = parse_count(SettingRef{"micro_batches"}, given, 1);
     },
     [](const Settings& s) { return Value(std::int64_t{s.loop.micro_batches}); }, Needs::backward,
     Alters::step, verbs_of_loops | verbs_of_made_steps},
    {"keep_gradients", update_group, Arity::flag, "",
     "zero_grad(set_to_none=False) (affects memory only): gradients stay allocated, and backward "
     "adds to them",
     [](Settings& s, const std::string&) { s.loop.keep_gradients = true; },
     [](const Settings& s) { return Value(s.loop.keep_gradients); }, Needs::backward, Alters::step,
     verbs_of_loops},
    {"warm_start", update_group, Arity::flag, "",
     "Assume that optimizer states and cuBLAS workspaces already exist, as after loading a "
     "checkpoint (affects memory only)",
     [](Settings& s, const std::string&) { s.loop.warm_start = true; },
     [](const Settings& s) { return Value(s.loop.warm_start); }, Needs::backward, Alters::step,
     verbs_of_loops},
    {"parallel", parallel_group, Arity::one, "ENGINE",
     "One rank of ddp=8, fsdp=8, hsdp=2x4, tp=4, ep=8, pp=4:1f1b:mb=16 or 'fsdp=2 tp=4', as "
     "PyTorch's engines run it; docs/reference/parallel.md has what may follow: fsdp=8:param=bf16",
     [](Settings& s, const std::string& given) { s.step.parallel = parse_parallel(given); },
     parallel_value, Needs::nothing, Alters::graph, verbs_of_ranks},
    {"wrap", parallel_group, Arity::several, "GLOB",
     "Modules that FSDP2 wraps, or that form pipeline stages: 'layers.*'; default: the repeated "
     "blocks, and the root",
     [](Settings& s, const std::string& given) { add_patterns(s.wrap, given); },
     [](const Settings& s) { return Value(s.wrap); }, Needs::backward, Alters::graph,
     verbs_of_ranks},
    {"mesh", parallel_group, Arity::one, "MESH",
     "Nodes and devices per node: 2x8; or 8 for one node. For a file with collectives of its own, "
     "and to place the ranks of {parallel} (default: eight per node). Links that are not the "
     "device's usual ones follow: 2x8:pcie4, 4:pcie4-host",
     [](Settings& s, const std::string& given) { s.mesh = parse_mesh(given); }, mesh_value,
     Needs::nothing, Alters::graph, verbs_of_ranks},
    {"device", device_group, Arity::one, "DEVICE",
     "A name from `symprof devices`, or a device file (.json)",
     [](Settings& s, const std::string& given) { s.step.device = find_device(given); },
     [](const Settings& s) { return Value(s.step.device.name); }, Needs::nothing, Alters::step,
     verbs_of_steps | verbs_of_programs},
    {"time", device_group, Arity::flag, "",
     "Estimate the time of each call and of the step on the device, with a 90 % interval",
     [](Settings& s, const std::string&) {
       if (!s.time) s.time.emplace();
     },
     nullptr, Needs::nothing, Alters::step, verbs_of_steps | verbs_of_programs},
    {"launch", device_group, Arity::one, "KIND", +[] { return alternatives(launch_kinds); },
     [](Settings& s, const std::string& given) {
       s.time = {.launch = choose(SettingRef{"launch"}, given, launch_kinds)};
     },
     nullptr, Needs::nothing, Alters::step, verbs_of_steps | verbs_of_programs},
    {"power_limit", device_group, Arity::one, "WATTS",
     "Power limit that the board was given, where it is not the data sheet's: 300W",
     [](Settings& s, const std::string& given) { s.power_limit_watts = parse_watts(given); },
     nullptr, Needs::nothing, Alters::step, verbs_of_steps | verbs_of_programs},
    {"clock", device_group, Arity::one, "CLOCK",
     "Highest clock of the multiprocessors that the driver may choose: 1200MHz",
     [](Settings& s, const std::string& given) { s.clock_limit_hz = parse_hertz(given); }, nullptr,
     Needs::nothing, Alters::step, verbs_of_steps | verbs_of_programs},
    {"context", device_group, Arity::one, "BYTES",
     "Device memory of CUDA's context and of other programs: 700MiB",
     [](Settings& s, const std::string& given) {
       s.context_bytes = parse_bytes(SettingRef{"context"}, given);
     },
     nullptr, Needs::nothing, Alters::step, verbs_of_loops | verbs_of_programs},
};

bool is_given(const Setting& row, const Settings& settings) {
  static const Settings defaults;
  return row.value != nullptr && row.value(settings) != row.value(defaults);
}

}  // namespace

std::span<const Setting> table() { return rows; }

std::span<const std::string_view> groups() { return all_groups; }

const Setting& find(std::string_view name) {
  const auto* row = std::ranges::find(rows, name, &Setting::name);
  if (row != std::end(rows)) return *row;
  std::vector<std::string> names;
  for (const Setting& known : rows) names.emplace_back(known.name);
  reject(SettingRef{std::string(name)}, std::string(name), names);
}

std::vector<const Setting*> settings_of(Verb verb) {
  std::vector<const Setting*> obeyed;
  for (const Setting& row : rows)
    if (row.verbs.contains(verb)) obeyed.push_back(&row);
  return obeyed;
}

void set(Settings& settings, std::string_view name, const std::string& given) {
  find(name).read(settings, given);
}

void check(const Settings& settings) {
  const bool is_inference =
      settings.mode ? *settings.mode == Mode::inference : settings.step.kv_cache.has_value();
  for (const Setting& row : rows) {
    if (row.needs == Needs::nothing || !is_given(row, settings)) continue;
    if (row.needs == Needs::optimizer && settings.step.optimizer == Optimizer::none)
      throw Error(SettingRef{std::string(row.name)},
                  "it is a part of the optimizer's update, and there is none.",
                  fmt::format("Add {}, or leave it out.", setting("optimizer", "adamw")));
    if (is_inference)
      throw Error(SettingRef{std::string(row.name)},
                  "inference has no backward pass and no update.",
                  fmt::format("Use {} or eval, or leave it out.", setting("mode", "train")));
  }
}

}  // namespace symprof::settings

namespace symprof {

std::optional<std::int64_t> given_size(const Settings& settings, const std::string& name) {
  for (const auto& [bound, size] : settings.sizes)
    if (bound == name) return size;
  return std::nullopt;
}

void set_size(Settings& settings, const std::string& name, std::int64_t size) {
  std::erase_if(settings.sizes, [&](const auto& bound) { return bound.first == name; });
  settings.sizes.emplace_back(name, size);
}

}  // namespace symprof
