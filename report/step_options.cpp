#include "report/step_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "report/option_names.h"

namespace symprof::report {
namespace {

void write_list(JsonWriter& json, std::string_view key, const std::vector<std::string>& words) {
  json.key(key);
  json.begin_array();
  for (const std::string& word : words) json.value(word);
  json.end_array();
}

void write_dtype(JsonWriter& json, std::string_view key, std::optional<DType> dtype) {
  json.key(key);
  dtype ? json.value(symprof::name(*dtype)) : json.null();
}

void write_run(JsonWriter& json, const RunOptions& run) {
  write_list(json, "inputs", run.inputs);
  json.key("sizes");
  json.begin_object();
  for (const auto& [name, size] : run.sizes) json.member(name, size);
  json.end_object();
  write_dtype(json, "dtype", run.dtype);
  json.member("alloc_conf", run.alloc_conf);
  json.member("micro_batches", std::int64_t{run.micro_batches});
}

}  // namespace

std::string step_text(const StepOptions& options) {
  std::string text(name_of(modes, options.mode));
  if (options.mode != Mode::inference && options.loss != Loss::ones)
    text += fmt::format(", loss {}", name_of(losses, options.loss));
  if (options.optimizer != Optimizer::none) text += ", optimizer " + optimizer_name(options);
  if (options.master_weights) text += ", master weights";
  if (options.clip_grad_norm) text += ", gradients clipped";
  if (options.grad_scaler) text += ", grad scaler";
  if (options.autocast) text += fmt::format(", autocast {}", symprof::name(*options.autocast));
  if (options.attention != AttentionBackend::automatic)
    text += fmt::format(", attention {}", name_of(attention_backends, options.attention));
  if (!options.checkpoint.empty())
    text += fmt::format(", checkpoint {}", fmt::join(options.checkpoint, " "));
  if (!options.freeze.empty()) text += fmt::format(", frozen {}", fmt::join(options.freeze, " "));
  if (options.kv_cache)
    text += fmt::format(", key-value cache of {} token{}", *options.kv_cache,
                        *options.kv_cache == 1 ? "" : "s");
  if (!options.offload_saved.empty())
    text +=
        fmt::format(", saved tensors of {} in host memory", fmt::join(options.offload_saved, " "));
  return text;
}

void write_step_options(JsonWriter& json, const StepOptions& options, const RunOptions& run) {
  json.key("options");
  json.begin_object();
  json.member("mode", name_of(modes, options.mode));
  json.member("loss", name_of(losses, options.loss));
  json.member("optimizer", optimizer_name(options));
  json.member("clip_grad_norm", options.clip_grad_norm);
  json.member("grad_scaler", options.grad_scaler);
  json.member("master_weights", options.master_weights);
  write_dtype(json, "autocast", options.autocast);
  json.member("attention", name_of(attention_backends, options.attention));
  json.member("lifetimes", name_of(lifetimes, options.lifetimes));
  json.member("split_bias", options.split_bias);
  write_list(json, "checkpoint", options.checkpoint);
  write_list(json, "freeze", options.freeze);
  write_list(json, "offload_saved", options.offload_saved);
  json.key("kv_cache");
  options.kv_cache ? json.value(*options.kv_cache) : json.null();
  json.member("unbacked", name_of(unbacked_sizes, options.upper_bounds));
  write_run(json, run);
  json.member("device", options.device.name);
  json.end_object();
}

}  // namespace symprof::report
