#include "report/profile/step_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "session/setting_names.h"
#include "session/setting_table.h"

namespace symprof::report {
namespace {

using settings::attention_backends;
using settings::losses;
using settings::matmul_precisions;
using settings::modes;
using settings::name_of;
using settings::optimizer_name;

void write(JsonWriter& json, const std::vector<std::string>& words) {
  json.begin_array();
  for (const std::string& word : words) json.value(word);
  json.end_array();
}

void write(JsonWriter& json, const std::vector<std::pair<std::string, std::int64_t>>& sizes) {
  json.begin_object();
  for (const auto& [name, size] : sizes) json.member(name, size);
  json.end_object();
}

void write(JsonWriter& json, std::monostate) { json.null(); }
void write(JsonWriter& json, const auto& value) { json.value(value); }

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
  if (options.float32_matmul_precision)
    text += fmt::format(", float32 matmul precision {}",
                        name_of(matmul_precisions, *options.float32_matmul_precision));
  if (!options.checkpoint.empty())
    text += fmt::format(", checkpoint {}", fmt::join(options.checkpoint, " "));
  if (const CheckpointPlan& plan = options.checkpoint_plan; !plan.is_empty())
    text +=
        fmt::format(", checkpoint plan {}of {} regions", plan.path.empty() ? "" : plan.path + " ",
                    plan.regions.size() + plan.offloaded.size());
  if (!options.freeze.empty()) text += fmt::format(", frozen {}", fmt::join(options.freeze, " "));
  if (options.kv_cache)
    text += fmt::format(", key-value cache of {} token{}", *options.kv_cache,
                        *options.kv_cache == 1 ? "" : "s");
  if (!options.offload_saved.empty())
    text +=
        fmt::format(", saved tensors of {} in host memory", fmt::join(options.offload_saved, " "));
  return text;
}

void write_settings(JsonWriter& json, const Settings& settings) {
  json.key("options");
  json.begin_object();
  for (const settings::Setting& setting : settings::table()) {
    if (setting.value == nullptr) continue;
    json.key(setting.name);
    std::visit([&](const auto& value) { write(json, value); }, setting.value(settings));
  }
  json.member("spacers", "");  // A key of schema 1 without a setting.
  json.end_object();
}

}  // namespace symprof::report
