// How the options of a step are written, on the command line and in JSON: one list for each.
#pragma once

#include <string>
#include <string_view>

#include "record/optimizer_variants.h"
#include "record/step_options.h"

namespace symprof::report {

template <class Value>
struct Named {
  std::string_view name;
  Value value;
};

inline constexpr Named<Mode> modes[] = {
    {"train", Mode::train}, {"eval", Mode::eval}, {"inference", Mode::inference}};

inline constexpr Named<Loss> losses[] = {{"ones", Loss::ones},
                                         {"sum", Loss::sum},
                                         {"mean", Loss::mean},
                                         {"cross_entropy", Loss::cross_entropy},
                                         {"mse", Loss::mse}};

inline constexpr Named<Optimizer> optimizers[] = {{"none", Optimizer::none},
                                                  {"sgd", Optimizer::sgd},
                                                  {"sgd_momentum", Optimizer::sgd_momentum},
                                                  {"adam", Optimizer::adam},
                                                  {"adamw", Optimizer::adamw},
                                                  {"rmsprop", Optimizer::rmsprop},
                                                  {"adafactor", Optimizer::adafactor},
                                                  {"lion", Optimizer::lion}};

inline constexpr Named<OptimizerVariant> optimizer_variants[] = {
    {"foreach", OptimizerVariant::foreach},
    {"fused", OptimizerVariant::fused},
    {"single", OptimizerVariant::single}};

inline constexpr Named<Lifetimes> lifetimes[] = {{"frames", Lifetimes::frames},
                                                 {"last-use", Lifetimes::last_use}};

inline constexpr Named<AttentionBackend> attention_backends[] = {
    {"auto", AttentionBackend::automatic},
    {"math", AttentionBackend::math},
    {"flash", AttentionBackend::flash},
    {"efficient", AttentionBackend::efficient},
    {"cudnn", AttentionBackend::cudnn}};

/// Whether sizes that depend on data are taken as their upper bounds.
inline constexpr Named<bool> unbacked_sizes[] = {{"refuse", false}, {"max", true}};

template <class Value, std::size_t size>
std::string_view name_of(const Named<Value> (&list)[size], Value value) {
  for (const Named<Value>& entry : list)
    if (entry.value == value) return entry.name;
  return "?";
}

/// "adamw:foreach"; "none" has no variant.
inline std::string optimizer_name(const StepOptions& options) {
  std::string text(name_of(optimizers, options.optimizer));
  if (options.optimizer == Optimizer::none) return text;
  return text + ":" + std::string(name_of(optimizer_variants, variant_of(options)));
}

}  // namespace symprof::report
