#include "session/parallel_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "trace/graph/module_patterns.h"

namespace symprof {
namespace {

/// The dtype of the first floating-point parameter.
DType dtype_of_parameters(const Graph& graph) {
  for (const Value& value : graph.values)
    if (value.kind == ValueKind::parameter && value.spec && is_floating_point(value.spec->dtype))
      return value.spec->dtype;
  return DType::float32;
}

bool is_around(const std::string& outer, const std::string& inner) {
  return outer.empty() || inner == outer || inner.starts_with(outer + ".");
}

/// The matching modules, and the whole model unless one of them contains all others.
std::vector<std::string> matching_modules(const Graph& graph,
                                          const std::vector<std::string>& patterns) {
  trace::matched_scopes(graph, patterns, "wrap");  // Throws for a pattern that matches nothing.
  std::set<std::string> paths;
  for (std::size_t i = 1; i < graph.scopes.size(); ++i) {
    const std::string path = trace::module_path(graph.scopes[i]);
    for (const std::string& pattern : patterns)
      if (trace::matches_path(pattern, path)) paths.insert(path);
  }
  const bool has_root = std::ranges::any_of(paths, [&](const std::string& outer) {
    return std::ranges::all_of(paths,
                               [&](const std::string& path) { return is_around(outer, path); });
  });
  if (!has_root) paths.insert("");
  return {paths.begin(), paths.end()};
}

std::vector<std::string> wrapped_modules(const Settings& settings, const Graph& graph) {
  std::vector<std::string> patterns = settings.wrap;
  if (patterns.empty()) {
    const std::vector<std::string> repeated = trace::repeated_modules(graph);
    if (!repeated.empty()) patterns.push_back(repeated.front());
  }
  if (patterns.empty()) return {""};
  return matching_modules(graph, patterns);
}

/// Stages consist of the wrapped modules; a wrapped module that contains all others is the one that
/// the pipeline splits.
void start_pipeline(Settings& settings, const Graph& graph) {
  ParallelOptions& parallel = *settings.step.parallel;
  PipelineOptions& pipeline = parallel.pipeline;
  if (settings.loop.micro_batches > 1)
    throw Error(SettingRef{"micro_batches"}, "a pipeline has microbatches of its own.",
                "Give " + setting("parallel", "pp=4:mb=16") + ".");
  const std::int64_t last = pipeline.stages() - 1;
  if (!pipeline.has_stage(last))
    settings.step.loss = Loss::ones;  // Gradients are received.
  else if (pipeline.stages_per_rank > 1 && settings.step.loss != Loss::ones)
    throw Error(SettingRef{"loss"}, "a rank of several stages has it from the file alone.",
                "Export the model with its loss, or give a schedule of one stage for each rank.");
  pipeline.blocks = wrapped_modules(settings, graph);
  const auto is_outermost = [&](const std::string& path) {
    return std::ranges::all_of(pipeline.blocks,
                               [&](const std::string& block) { return is_around(path, block); });
  };
  const auto outermost = std::ranges::find_if(pipeline.blocks, is_outermost);
  if (outermost == pipeline.blocks.end() || pipeline.blocks.size() == 1) return;
  pipeline.module = *outermost;
  pipeline.blocks.erase(outermost);
}

}  // namespace

std::optional<DType> dtype_that_runs(const Settings& settings) {
  const std::optional<ParallelOptions>& parallel = settings.step.parallel;
  return parallel && parallel->param_dtype ? parallel->param_dtype : settings.dtype;
}

void use_mesh(Settings& settings) {
  if (!settings.mesh) return;
  const std::int64_t devices = settings.mesh->devices();
  std::optional<ParallelOptions>& parallel = settings.step.parallel;
  if (!parallel)
    parallel = ParallelOptions{.text = fmt::format("mesh={}", devices), .recorded = devices};
  if (parallel->world() != devices)
    throw Error(SettingRef{"mesh"},
                fmt::format("it has {} devices, and {} has {} ranks.", devices, parallel->text,
                            parallel->world()),
                "Give as many of both, or leave one out.");
  parallel->ranks_per_node = settings.mesh->devices_per_node;
}

void start_parallel(Settings& settings, const Graph& graph) {
  ParallelOptions& parallel = *settings.step.parallel;
  if (settings.step.mode == Mode::inference && parallel.recorded == 1)
    throw Error(SettingRef{"parallel", parallel.text},
                "inference has no backward pass and no update.",
                "Use " + setting("mode", "train") + " or eval, or leave it out.");
  const bool has_stages = parallel.pipeline.ranks > 1;
  if (has_stages) start_pipeline(settings, graph);
  if (parallel.data != DataEngine::fsdp) {
    if (!settings.wrap.empty() && !has_stages)
      throw Error(SettingRef{"wrap"},
                  "it says which modules FSDP2 wraps or of which stages are made, and this is " +
                      std::string(parallel.data == DataEngine::ddp ? "DDP." : "another engine."),
                  "Leave it out, or give " + setting("parallel", "fsdp=8") + ".");
    return;
  }
  if (settings.step.master_weights)
    throw Error(SettingRef{"master_weights"},
                "FSDP2 keeps the shards in their own dtype and computes in another.",
                "Give " + setting("parallel", parallel.text + ":param=bf16") + " in its place.");
  parallel.stored_dtype = settings.dtype.value_or(dtype_of_parameters(graph));
  ShardedUpdate& update = settings.step.sharded_update.emplace();
  update.ranks = parallel.shards;
  update.rank = parallel.rank;
  if (parallel.param_dtype) update.dtype = parallel.stored_dtype;
}

void choose_wrapped(Settings& settings, const Graph& graph) {
  ParallelOptions& parallel = *settings.step.parallel;
  if (parallel.data == DataEngine::fsdp) parallel.wrapped = wrapped_modules(settings, graph);
}

bool asks_for_fullest_rank(const Settings& settings) {
  const std::optional<ParallelOptions>& parallel = settings.step.parallel;
  return parallel && parallel->pipeline.ranks > 1 && !parallel->pipeline.rank;
}

}  // namespace symprof
