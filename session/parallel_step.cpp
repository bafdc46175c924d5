#include "session/parallel_step.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "trace/graph/module_patterns.h"

namespace symprof {
namespace {

/// That of the first parameter in floating point.
DType dtype_of_parameters(const Graph& graph) {
  for (const Value& value : graph.values)
    if (value.kind == ValueKind::parameter && value.spec && is_floating_point(value.spec->dtype))
      return value.spec->dtype;
  return DType::float32;
}

bool is_around(const std::string& outer, const std::string& inner) {
  return outer.empty() || inner == outer || inner.starts_with(outer + ".");
}

/// The modules that match, and the whole model where none of them is around all others.
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

}  // namespace

std::optional<DType> dtype_that_runs(const Settings& settings) {
  const std::optional<ParallelOptions>& parallel = settings.step.parallel;
  return parallel && parallel->param_dtype ? parallel->param_dtype : settings.dtype;
}

void start_parallel(Settings& settings, const Graph& graph) {
  ParallelOptions& parallel = *settings.step.parallel;
  if (parallel.engine != ParallelEngine::fsdp) {
    if (!settings.wrap.empty())
      throw Error(
          SettingRef{"wrap"},
          "it says which modules FSDP2 wraps, and this is " +
              std::string(parallel.engine == ParallelEngine::ddp ? "DDP." : "another engine."),
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
  if (parallel.engine != ParallelEngine::fsdp) return;
  std::vector<std::string> patterns = settings.wrap;
  if (patterns.empty()) {
    const std::vector<std::string> repeated = trace::repeated_modules(graph);
    if (!repeated.empty()) patterns.push_back(repeated.front());
  }
  if (patterns.empty())
    parallel.wrapped = {""};
  else
    parallel.wrapped = matching_modules(graph, patterns);
}

}  // namespace symprof
