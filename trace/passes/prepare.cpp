#include "trace/passes/prepare.h"

#include "base/error.h"
#include "base/setting.h"
#include "trace/passes/checkpoint_modules.h"
#include "trace/passes/frozen_parameters.h"
#include "trace/passes/inline_regions.h"
#include "trace/passes/key_value_cache.h"
#include "trace/passes/position_tables.h"
#include "trace/passes/split_bias.h"
#include "trace/passes/training_mode.h"

namespace symprof::trace {
namespace {

/// A script's options decide what its graph is: it comes with its inputs, in its dtype.
bool is_followed_script(const Graph& graph) { return graph.format == "torchscript"; }

void add_cache(Graph& graph, const PrepareOptions& options) {
  if (options.step.mode != Mode::inference)
    throw Error(graph.path, "a key-value cache is for inference",
                "Leave " + setting("mode") + " out, or give " + setting("mode", "inference") + ".");
  const ValueSpecs specs = options.specs_of(graph);
  const SpecOf spec_of = [&](ValueId id) -> const TensorSpec* {
    if (static_cast<std::size_t>(id) >= specs.size()) return nullptr;  // The pass added it.
    const std::optional<TensorSpec>& spec = specs[static_cast<std::size_t>(id)];
    return spec ? &*spec : nullptr;
  };
  add_key_value_cache(graph, *options.step.kv_cache, spec_of);
  check_position_tables(graph, spec_of);
}

constexpr Pass all[] = {
    {"inline_regions",
     "the nodes of `with no_grad():` and `with autocast():` are rows like all others",
     [](const Graph&, const PrepareOptions&) { return true; },
     [](Graph& graph, const PrepareOptions&) { inline_regions(graph); }},
    {"set_training_mode",
     "operators that train do so as the step asks, not as the file was exported",
     [](const Graph&, const PrepareOptions&) { return true; },
     [](Graph& graph, const PrepareOptions& options) {
       set_training_mode(graph, training_mode(options.step.mode));
     }},
    {"cast_floating_point", "the model as if module.to(dtype) had been called",
     [](const Graph& graph, const PrepareOptions& options) {
       return options.dtype.has_value() && !is_followed_script(graph);
     },
     [](Graph& graph, const PrepareOptions& options) {
       cast_floating_point(graph, *options.dtype);
     }},
    {"bind_inputs", "every input has a shape from here on",
     [](const Graph& graph, const PrepareOptions&) { return !is_followed_script(graph); },
     [](Graph& graph, const PrepareOptions& options) {
       bind_inputs(graph, options.inputs, options.sizes);
     }},
    {"split_bias", "biases get rows of their own, before modules are folded into one node",
     [](const Graph&, const PrepareOptions& options) { return options.step.split_bias; },
     [](Graph& graph, const PrepareOptions&) { split_bias(graph); }},
    {"checkpoint_modules", "modules that are computed again in backward become one node each",
     [](const Graph&, const PrepareOptions& options) { return !options.step.checkpoint.empty(); },
     [](Graph& graph, const PrepareOptions& options) {
       checkpoint_modules(graph, options.step.checkpoint);
     }},
    {"key_value_cache", "one step of generation: attention reads keys and values of tokens before",
     [](const Graph&, const PrepareOptions& options) { return options.step.kv_cache.has_value(); },
     add_cache},
    {"freeze_parameters", "parameters that the step does not train ask for no gradient",
     [](const Graph&, const PrepareOptions& options) { return !options.step.freeze.empty(); },
     [](Graph& graph, const PrepareOptions& options) {
       freeze_parameters(graph, options.step.freeze);
     }},
};

void run(Graph& graph, std::span<const Pass> wanted, const PrepareOptions& options) {
  for (const Pass& pass : wanted) {
    if (!pass.applies(graph, options)) continue;
    pass.run(graph, options);
    verify(graph);
  }
}

}  // namespace

std::span<const Pass> passes() { return all; }

void finish_reading(Graph& graph) { run(graph, passes().first(reading_passes), {}); }

void prepare(Graph& graph, const PrepareOptions& options) {
  run(graph, passes().subspan(reading_passes), options);
}

}  // namespace symprof::trace
