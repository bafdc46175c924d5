#include "report/step_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "report/option_names.h"

namespace symprof::report {
namespace {

void write_patterns(JsonWriter& json, std::string_view key,
                    const std::vector<std::string>& patterns) {
  json.key(key);
  json.begin_array();
  for (const std::string& pattern : patterns) json.value(pattern);
  json.end_array();
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
  if (options.kv_cache) text += fmt::format(", key-value cache of {} tokens", *options.kv_cache);
  if (!options.offload_saved.empty())
    text +=
        fmt::format(", saved tensors of {} in host memory", fmt::join(options.offload_saved, " "));
  return text;
}

void write_step_options(JsonWriter& json, const StepOptions& options) {
  json.key("options");
  json.begin_object();
  json.member("mode", name_of(modes, options.mode));
  json.member("loss", name_of(losses, options.loss));
  json.member("optimizer", optimizer_name(options));
  json.member("clip_grad_norm", options.clip_grad_norm);
  json.member("grad_scaler", options.grad_scaler);
  json.member("master_weights", options.master_weights);
  json.key("autocast");
  options.autocast ? json.value(symprof::name(*options.autocast)) : json.null();
  json.member("attention", name_of(attention_backends, options.attention));
  json.member("lifetimes", name_of(lifetimes, options.lifetimes));
  json.member("split_bias", options.split_bias);
  write_patterns(json, "checkpoint", options.checkpoint);
  write_patterns(json, "offload_saved", options.offload_saved);
  json.key("kv_cache");
  options.kv_cache ? json.value(*options.kv_cache) : json.null();
  json.member("device", options.device.name);
  json.end_object();
}

}  // namespace symprof::report
