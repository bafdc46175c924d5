// Names of the settings' values: one list for each kind.
#pragma once

#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>

#include "profile/step_time.h"
#include "record/step_options.h"

namespace symprof::settings {

template <class Value>
struct Named {
  std::string_view name;
  Value value;
  std::string_view note = {};  ///< Its note in help, in parentheses.
};

inline constexpr Named<Mode> modes[] = {
    {"train", Mode::train},
    {"eval", Mode::eval, "no dropout, running statistics, still with gradients"},
    {"inference", Mode::inference}};

inline constexpr Named<Loss> losses[] = {
    {"ones", Loss::ones, "the default: gradients of the outputs are ones"},
    {"sum", Loss::sum},
    {"mean", Loss::mean},
    {"cross_entropy", Loss::cross_entropy},
    {"mse", Loss::mse}};

inline constexpr Named<OptimizerVariant> optimizer_variants[] = {
    {"foreach", OptimizerVariant::foreach},
    {"fused", OptimizerVariant::fused},
    {"single", OptimizerVariant::single}};

inline constexpr Named<DType> autocast_dtypes[] = {{"bf16", DType::bfloat16},
                                                   {"fp16", DType::float16},
                                                   {"bfloat16", DType::bfloat16},
                                                   {"float16", DType::float16}};

inline constexpr Named<DType> model_dtypes[] = {
    {"bf16", DType::bfloat16},   {"fp16", DType::float16},      {"fp32", DType::float32},
    {"fp64", DType::float64},    {"bfloat16", DType::bfloat16}, {"float16", DType::float16},
    {"float32", DType::float32}, {"float64", DType::float64}};

inline constexpr Named<Lifetimes> lifetimes[] = {{"frames", Lifetimes::frames},
                                                 {"last-use", Lifetimes::last_use}};

inline constexpr Named<AttentionBackend> attention_backends[] = {
    {"auto", AttentionBackend::automatic, "as the device would choose"},
    {"math", AttentionBackend::math},
    {"flash", AttentionBackend::flash},
    {"efficient", AttentionBackend::efficient},
    {"cudnn", AttentionBackend::cudnn}};

inline constexpr Named<MatmulPrecision> matmul_precisions[] = {
    {"highest", MatmulPrecision::highest, "PyTorch's default"},
    {"high", MatmulPrecision::high, "TF32"},
    {"medium", MatmulPrecision::medium, "TF32 on a GPU"}};

inline constexpr Named<LaunchKind> launch_kinds[] = {
    {"eager", LaunchKind::eager, "the default of times: call by call"},
    {"graph", LaunchKind::graph, "one CUDA graph; gives times too"}};

inline constexpr Named<UnbackedSizes> unbacked_sizes[] = {{"refuse", UnbackedSizes::refuse},
                                                          {"max", UnbackedSizes::max}};

inline constexpr Named<AssumedSaved> assumed_saved[] = {{"nothing", AssumedSaved::nothing},
                                                        {"inputs", AssumedSaved::inputs},
                                                        {"outputs", AssumedSaved::outputs},
                                                        {"both", AssumedSaved::both}};

template <class Value, std::size_t size>
std::string_view name_of(const Named<Value> (&list)[size], Value value) {
  for (const Named<Value>& entry : list)
    if (entry.value == value) return entry.name;
  return "?";
}

/// The choices of a list in help, "train, eval (no dropout) or inference", each name after `mark`.
/// The entries have a name and a note.
template <class List>
std::string alternatives(const List& list, std::string_view mark = {}) {
  std::string text;
  std::size_t left = std::size(list);
  for (const auto& entry : list) {
    text.append(mark).append(entry.name);
    if (!entry.note.empty()) text.append(" (").append(entry.note).append(")");
    --left;
    if (left > 0) text += left > 1 ? ", " : " or ";
  }
  return text;
}

/// "adamw:foreach"; "none" has no variant.
inline std::string optimizer_name(const StepOptions& options) {
  std::string text(info_of(options.optimizer).name);
  if (options.optimizer == Optimizer::none) return text;
  return text + ":" + std::string(name_of(optimizer_variants, variant_of(options)));
}

}  // namespace symprof::settings
