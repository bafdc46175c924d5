#include "session/read_optimizer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "base/error.h"
#include "record/optimizers.h"
#include "session/read_text.h"
#include "session/setting_names.h"

namespace symprof::settings {
namespace {

std::string names_of(std::span<const OptimizerVariant> variants) {
  std::vector<std::string_view> names;
  for (const OptimizerVariant variant : variants)
    names.push_back(name_of(optimizer_variants, variant));
  return fmt::format("{}", fmt::join(names, ", "));
}

Optimizer parse_optimizer_name(const std::string& name) {
  std::vector<std::string> accepted;
  for (const OptimizerInfo& info : optimizers) {
    if (info.name == name) return info.optimizer;
    accepted.emplace_back(info.name);
  }
  reject(SettingRef{"optimizer"}, name, accepted);
}

}  // namespace

std::string optimizer_help() {
  std::vector<std::string_view> names;
  for (const OptimizerInfo& info : optimizers) names.push_back(info.name);
  return fmt::format("{}; {}", fmt::join(names, ", "), alternatives(optimizer_variants, ":"));
}

void read_optimizer(StepOptions& step, const std::string& given) {
  const std::size_t colon = given.find(':');
  const std::string name = given.substr(0, colon);
  step.optimizer = parse_optimizer_name(name);
  step.optimizer_variant.reset();
  if (colon == std::string::npos) return;
  const std::string variant_name = given.substr(colon + 1);
  if (step.optimizer == Optimizer::none)
    throw Error(SettingRef{"optimizer"}, "'" + given + "' names a variant of no optimizer.",
                "Leave the variant out, or write adamw:" + variant_name + ".");
  const OptimizerVariant variant =
      choose(SettingRef{"optimizer"}, variant_name, optimizer_variants);
  if (!has_variant(step.optimizer, variant))
    throw Error(SettingRef{"optimizer"}, fmt::format("{} has no variant '{}'.", name, variant_name),
                fmt::format("There is: {}.", names_of(variants_of(step.optimizer))));
  step.optimizer_variant = variant;
}

}  // namespace symprof::settings
