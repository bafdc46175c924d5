// A step of a graph with all the passes that its options ask for.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "shape/step/propagate.h"
#include "trace/graph/recorded_specs.h"
#include "trace/passes/prepare.h"

namespace symprof::test {

/// `graph` is as its file has it.
inline Recording record_prepared(
    Graph graph, const StepOptions& options,
    const std::vector<std::pair<std::string, std::int64_t>>& sizes = {}) {
  const auto specs_of = [&](const Graph& without_cache) {
    StepOptions step = options;
    step.kv_cache.reset();
    return trace::specs_of(without_cache, shape::propagate(without_cache, step));
  };
  trace::prepare(graph, {.sizes = sizes, .step = options, .specs_of = specs_of});
  return shape::propagate(graph, options);
}

}  // namespace symprof::test
