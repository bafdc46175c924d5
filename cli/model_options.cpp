#include "cli/model_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <span>

#include "base/error.h"
#include "base/nearest.h"
#include "cli/install_paths.h"
#include "cli/usage.h"

namespace symprof::cli {
namespace {

using report::Named;

constexpr Named<DType> autocast_dtypes[] = {{"bf16", DType::bfloat16},
                                            {"fp16", DType::float16},
                                            {"bfloat16", DType::bfloat16},
                                            {"float16", DType::float16}};
constexpr Named<DType> model_dtypes[] = {
    {"bf16", DType::bfloat16},   {"fp16", DType::float16},      {"fp32", DType::float32},
    {"fp64", DType::float64},    {"bfloat16", DType::bfloat16}, {"float16", DType::float16},
    {"float32", DType::float32}, {"float64", DType::float64}};

std::string names_of(std::span<const OptimizerVariant> variants) {
  std::vector<std::string_view> names;
  for (const OptimizerVariant variant : variants)
    names.push_back(report::name_of(report::optimizer_variants, variant));
  return fmt::format("{}", fmt::join(names, ", "));
}

/// "adamw:fused": the variant is PyTorch's default on CUDA where it is left out.
void parse_optimizer(const std::string& text, StepOptions& step) {
  const std::size_t colon = text.find(':');
  const std::string name = text.substr(0, colon);
  step.optimizer = choose("--optimizer", name, report::optimizers);
  if (colon == std::string::npos) return;
  if (step.optimizer == Optimizer::none)
    throw Error("--optimizer", "'" + text + "' names a variant of no optimizer.",
                "Leave the variant out, or write adamw" + text.substr(colon) + ".");
  const OptimizerVariant variant =
      choose("--optimizer", text.substr(colon + 1), report::optimizer_variants);
  if (!has_variant(step.optimizer, variant))
    throw Error("--optimizer", fmt::format("{} has no variant '{}'.", name, text.substr(colon + 1)),
                fmt::format("There is: {}.", names_of(variants_of(step.optimizer))));
  step.optimizer_variant = variant;
}

/// What is part of an update needs one.
void parse_recipe(const ModelText& text, StepOptions& step) {
  step.clip_grad_norm = text.clip_grad_norm;
  step.grad_scaler = text.grad_scaler;
  step.master_weights = text.master_weights;
  const std::pair<bool, const char*> parts[] = {{step.clip_grad_norm, "--clip-grad-norm"},
                                                {step.grad_scaler, "--grad-scaler"},
                                                {step.master_weights, "--master-weights"}};
  for (const auto& [is_on, option] : parts)
    if (is_on && step.optimizer == Optimizer::none)
      throw Error(option, "it is a part of the optimizer's update, and there is none.",
                  "Add --optimizer adamw, or leave it out.");
}

/// What an inference would leave out without a word.
void refuse_in_inference(const ModelOptions& options) {
  const StepOptions& step = options.step;
  const std::pair<bool, const char*> parts[] = {
      {step.clip_grad_norm, "--clip-grad-norm"},
      {step.grad_scaler, "--grad-scaler"},
      {step.master_weights, "--master-weights"},
      {step.optimizer != Optimizer::none, "--optimizer"},
      {step.loss != Loss::ones, "--loss"},
      {!step.checkpoint.empty(), "--checkpoint"},
      {!step.freeze.empty(), "--freeze"},
      {!step.offload_saved.empty(), "--offload-saved"},
      {options.loop.micro_batches > 1, "--micro-batches"}};
  for (const auto& [is_on, option] : parts)
    if (is_on)
      throw Error(option, "inference has no backward pass and no update.",
                  "Use --mode train or eval, or leave it out.");
}

/// The names of the files beside a missing one, for a suggestion.
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

void require_file(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    throw Error(path, "is a folder.", "Name a model file (.pt2, .pt or .onnx).");
  if (std::filesystem::exists(path, error)) return;
  const std::string suggestion = did_you_mean(path, files_beside(path));
  throw Error(path, "there is no such file.",
              suggestion.empty() ? "Name a model file (.pt2, .pt or .onnx)." : suggestion);
}

/// Of an option that may be given several times, each with several patterns.
std::vector<std::string> parse_patterns(const std::vector<std::string>& given) {
  std::vector<std::string> patterns;
  for (const std::string& list : given)
    for (std::string& pattern : split_list(list)) patterns.push_back(std::move(pattern));
  return patterns;
}

StepOptions parse_step(const ModelText& text) {
  StepOptions step;
  step.loss = choose("--loss", text.loss, report::losses);
  parse_optimizer(text.optimizer, step);
  parse_recipe(text, step);
  if (!text.autocast.empty()) step.autocast = choose("--autocast", text.autocast, autocast_dtypes);
  step.split_bias = text.split_bias;
  step.upper_bounds = choose("--unbacked", text.unbacked, report::unbacked_sizes);
  step.lifetimes = choose("--lifetimes", text.lifetimes, report::lifetimes);
  step.attention = choose("--attention", text.attention, report::attention_backends);
  return step;
}

constexpr const char* group = "What runs";

/// Adds options that take one value.
auto adder(CLI::App& app) {
  return [&app](const char* name, std::string& value, const char* type, const char* help) {
    app.add_option(name, value, help)->type_name(type)->group(group);
  };
}

/// Adds options that may be given several times, each with one value.
auto list_adder(CLI::App& app) {
  return [&app](const char* name, std::vector<std::string>& values, const char* type,
                const char* help) {
    app.add_option(name, values, help)->allow_extra_args(false)->type_name(type)->group(group);
  };
}

void add_update_options(CLI::App& app, ModelText& text) {
  adder(app)("--optimizer", text.optimizer, "NAME",
             "none, sgd, sgd_momentum, adam, adamw, rmsprop, adafactor, lion; "
             ":foreach, :fused or :single");
  const auto add_flag = [&](const char* name, bool& value, const char* help) {
    app.add_flag(name, value, help)->group(group);
  };
  add_flag("--clip-grad-norm", text.clip_grad_norm,
           "clip_grad_norm_ of all gradients before the update (in the optimizer's row)");
  add_flag("--grad-scaler", text.grad_scaler,
           "Scale the loss and unscale the gradients with torch.amp.GradScaler, as fp16 needs it");
  add_flag("--master-weights", text.master_weights,
           "Update fp32 copies of the parameters in bf16 or fp16 (with --dtype or of the file)");
}

void add_step_options(CLI::App& app, ModelText& text) {
  const auto add = adder(app);
  const auto add_list = list_adder(app);
  add_list("--input", text.inputs, "SPEC", "Shape of an input: NAME=DTYPE[DIMS]; repeatable");
  add_list("--set", text.bindings, "NAME=SIZE", "Size of a named dimension: batch=8; repeatable");
  add("--mode", text.mode, "MODE",
      "train, eval (no dropout, running statistics, still with gradients) or inference");
  add("--loss", text.loss, "LOSS",
      "ones (the default: gradients of the outputs are ones), sum, mean, cross_entropy or mse");
  add_update_options(app, text);
  add("--autocast", text.autocast, "DTYPE", "Run under autocast to bf16 or fp16");
  add("--dtype", text.dtype, "DTYPE", "Cast parameters and inputs: bf16, fp16, fp32 or fp64");
  add_list("--checkpoint", text.checkpoint, "GLOB",
           "Modules whose activations are computed again in backward: 'layers.*'; repeatable");
  add_list("--freeze", text.freeze, "GLOB",
           "Parameters, or modules with all of theirs, that are not trained: 'encoder'; "
           "repeatable");
  add_list("--offload-saved", text.offload_saved, "GLOB",
           "Modules whose saved tensors wait in host memory, as under save_on_cpu; '*' is all");
  add("--kv-cache", text.kv_cache, "N",
      "Inference with N tokens in a key-value cache before the step; --set gives the step's "
      "tokens");
  add("--attention", text.attention, "KIND",
      "auto (as the device would choose), math, flash, efficient or cudnn");
  app.add_flag("--split-bias", text.split_bias,
               "Add biases in rows of their own, apart from the product or convolution")
      ->group(group);
  add("--lifetimes", text.lifetimes, "KIND",
      "Values live as in Python's frames (the default), or until their last-use");
  add("--unbacked", text.unbacked, "KIND",
      "Sizes that depend on data (nonzero): refuse (the default), or max, their upper bounds");
}

void add_loop_options(CLI::App& app, ModelText& text) {
  const auto add = adder(app);
  add("--micro-batches", text.micro_batches, "N",
      "Backward passes before each update, for the memory: rows and FLOPs are those of one");
  add("--alloc-conf", text.alloc_conf, "SETTINGS",
      "Of PyTorch's allocator, as in PYTORCH_ALLOC_CONF: expandable_segments:True");
  add("--device", text.device, "DEVICE", "A name from `symprof devices`, or a device file (.json)");
  add("--context", text.context, "BYTES",
      "What CUDA's context and other programs hold on the device: 700MiB");
}

}  // namespace

void add_model_options(CLI::App& app, ModelText& text) {
  app.add_option("MODEL", text.model,
                 "The model file: .pt2 (torch.export), .pt (TorchScript) or .onnx")
      ->required()
      ->type_name("");
  add_step_options(app, text);
  add_loop_options(app, text);
}

ModelOptions parse_model_options(const ModelText& text) {
  ModelOptions options;
  for (const std::string& input : text.inputs)
    options.inputs.push_back(trace::parse_input_override(input));
  for (const std::string& binding : text.bindings)
    options.bindings.push_back(trace::parse_binding(binding));
  if (!text.mode.empty()) options.mode = choose("--mode", text.mode, report::modes);
  if (!text.dtype.empty()) options.dtype = choose("--dtype", text.dtype, model_dtypes);
  options.step = parse_step(text);
  options.step.checkpoint = parse_patterns(text.checkpoint);
  options.step.freeze = parse_patterns(text.freeze);
  options.step.offload_saved = parse_patterns(text.offload_saved);
  options.loop.allocator = profile::parse_allocator_settings(text.alloc_conf);
  if (!text.kv_cache.empty()) options.step.kv_cache = parse_count("--kv-cache", text.kv_cache, 0);
  if (!text.micro_batches.empty())
    options.loop.micro_batches = parse_count("--micro-batches", text.micro_batches, 1);
  if (options.mode == Mode::inference || (options.step.kv_cache && !options.mode))
    refuse_in_inference(options);
  options.step.device = find_device(text.device, devices_folder());
  if (!text.context.empty()) {
    options.context_bytes = parse_bytes("--context", text.context);
    options.step.device.context_bytes = options.context_bytes;
  }
  options.asked = {.inputs = text.inputs,
                   .sizes = options.bindings,
                   .dtype = options.dtype,
                   .alloc_conf = text.alloc_conf,
                   .micro_batches = options.loop.micro_batches};
  return options;
}

void take_model_file(const ModelText& text, ModelOptions& options) {
  require_file(text.model);
  options.model = text.model;
}

}  // namespace symprof::cli
