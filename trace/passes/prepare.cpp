#include "trace/passes/prepare.h"

#include "base/error.h"
#include "base/setting.h"
#include "trace/passes/checkpoint_modules.h"
#include "trace/passes/expert_parallel.h"
#include "trace/passes/frozen_parameters.h"
#include "trace/passes/inline_regions.h"
#include "trace/passes/key_value_cache.h"
#include "trace/passes/other_batch.h"
#include "trace/passes/pipeline_stages.h"
#include "trace/passes/position_tables.h"
#include "trace/passes/restore_norms.h"
#include "trace/passes/split_bias.h"
#include "trace/passes/tensor_parallel.h"
#include "trace/passes/training_mode.h"
#include "trace/python/dtypes/autocast_casts.h"
#include "trace/python/dtypes/casts_back.h"
#include "trace/python/dtypes/empty_beginnings.h"
#include "trace/python/dtypes/exported_masks.h"
#include "trace/python/dtypes/new_tensors.h"
#include "trace/python/dtypes/promoted_casts.h"
#include "trace/python/dtypes/returned_casts.h"

namespace symprof::trace {
namespace {

bool is_bound(const Graph& graph) { return graph.traits.inputs_are_bound; }
bool has_lines(const Graph& graph) { return graph.traits.has_python_lines; }

std::optional<std::int64_t> wanted_batch(const PrepareOptions& options) {
  for (const auto& [name, size] : options.sizes)
    if (name == "batch") return size;
  return std::nullopt;
}

/// Replaces a batch that the file fixes. A trial graph, with all requested sizes but the batch,
/// tells which numbers follow from the batch.
void change_batch(Graph& graph, const PrepareOptions& options) {
  const std::int64_t batch = *fixed_batch(graph), wanted = *wanted_batch(options);
  if (wanted == batch)
    return set_batch(graph, {.batch = batch, .arguments = {}, .warnings = {}}, batch);
  PrepareOptions others = options;
  std::erase_if(others.sizes, [](const auto& bound) { return bound.first == "batch"; });
  Graph example = graph;
  bind_inputs(example, others.inputs, others.sizes);
  if (fixed_batch(example) != batch) return;  // The inputs say which batch there is.
  try {
    set_batch(graph, options.batch_plan_of(example), wanted);
  } catch (const Error& error) {
    if (error.about()) throw;
    throw fixed_batch_error(graph, wanted, error);
  }
}

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
    {"change_batch",
     "a file that fixes its batch answers for others: sizes that follow it stand in the nodes",
     [](const Graph& graph, const PrepareOptions& options) {
       return options.batch_plan_of && wanted_batch(options) && fixed_batch(graph) &&
              !is_bound(graph);
     },
     change_batch},
    {"restore_norms", "training runs batch norms that an exporter folded into weights",
     [](const Graph& graph, const PrepareOptions& options) {
       return options.step.mode == Mode::train && graph.traits.may_lack_layers;
     },
     [](Graph& graph, const PrepareOptions&) { restore_norms(graph); }},
    {"set_training_mode",
     "operators that train do so as the step asks, not as the file was exported",
     [](const Graph&, const PrepareOptions&) { return true; },
     [](Graph& graph, const PrepareOptions& options) {
       set_training_mode(graph, training_mode(options.step.mode));
     }},
    {"return_uncast", "an output is what the module returns, not a cast of it for a loss",
     [](const Graph& graph, const PrepareOptions& options) {
       return (options.step.autocast || options.dtype) && has_lines(graph);
     },
     [](Graph& graph, const PrepareOptions&) { return_uncast(graph); }},
    {"follow_autocast", "casts to the dtype of a tensor take the one that autocast gives it",
     [](const Graph& graph, const PrepareOptions& options) {
       return options.step.autocast.has_value() && has_lines(graph);
     },
     [](Graph& graph, const PrepareOptions&) { follow_autocast(graph); }},
    {"follow_casts_back", "a cast of what is cast already takes back a tensor's dtype",
     [](const Graph& graph, const PrepareOptions& options) {
       return options.step.autocast.has_value() && !graph.kept_casts.empty();
     },
     [](Graph& graph, const PrepareOptions&) { follow_casts_back(graph); }},
    {"follow_promoted_casts", "a cast of what promotion made float32 takes back a tensor's dtype",
     [](const Graph& graph, const PrepareOptions& options) {
       return options.step.autocast.has_value() && !graph.kept_casts.empty();
     },
     [](Graph& graph, const PrepareOptions&) { follow_promoted_casts(graph); }},
    {"follow_new_tensors", "new tensors in the dtype of another one have what autocast gives it",
     [](const Graph& graph, const PrepareOptions& options) {
       return options.step.autocast.has_value() && (has_lines(graph) || is_bound(graph));
     },
     [](Graph& graph, const PrepareOptions& options) {
       follow_new_tensors(graph, *options.step.autocast);
     }},
    {"follow_empty_beginnings", "the empty tensor that a cache begins with has its keys' dtype",
     [](const Graph&, const PrepareOptions& options) { return options.step.autocast.has_value(); },
     [](Graph& graph, const PrepareOptions&) { follow_empty_beginnings(graph); }},
    {"cast_floating_point", "the model as if it had been built in that dtype",
     [](const Graph& graph, const PrepareOptions& options) {
       return options.dtype.has_value() && !is_bound(graph);
     },
     [](Graph& graph, const PrepareOptions& options) {
       cast_floating_point(graph, *options.dtype);
     }},
    {"bind_inputs", "every input has a shape from here on",
     [](const Graph& graph, const PrepareOptions&) { return !is_bound(graph); },
     [](Graph& graph, const PrepareOptions& options) {
       bind_inputs(graph, options.inputs, options.sizes);
     }},
    {"note_masks", "what a model makes only because it is exported is said",
     [](const Graph& graph, const PrepareOptions&) { return has_lines(graph); },
     [](Graph& graph, const PrepareOptions&) { warn_of_exported_masks(graph); }},
    {"split_bias", "biases get rows of their own, before modules are folded into one node",
     [](const Graph&, const PrepareOptions& options) { return options.step.split_bias; },
     [](Graph& graph, const PrepareOptions&) { split_bias(graph); }},
    {"expert_parallel", "a rank of expert parallelism has its part of the experts, and collectives",
     [](const Graph&, const PrepareOptions& options) {
       return options.step.parallel && options.step.parallel->expert > 1;
     },
     [](Graph& graph, const PrepareOptions& options) {
       split_experts(graph, *options.step.parallel, options.specs_of(graph));
     }},
    {"tensor_parallel", "a rank of tensor parallelism has its share of layers, and collectives",
     [](const Graph&, const PrepareOptions& options) {
       return options.step.parallel && options.step.parallel->tensor > 1;
     },
     [](Graph& graph, const PrepareOptions& options) {
       split_tensors(graph, *options.step.parallel, options.specs_of(graph));
     }},
    {"pipeline_stages", "a rank of a pipeline has its stages, what they receive, what they send",
     [](const Graph&, const PrepareOptions& options) {
       return options.step.parallel && options.step.parallel->pipeline.ranks > 1;
     },
     [](Graph& graph, const PrepareOptions& options) {
       keep_stages(graph, options.step.parallel->pipeline, options.specs_of(graph));
     }},
    {"checkpoint_modules", "modules that are computed again in backward become one node each",
     [](const Graph&, const PrepareOptions& options) {
       return !options.step.checkpoint.empty() || !options.step.checkpoint_plan.regions.empty();
     },
     [](Graph& graph, const PrepareOptions& options) {
       checkpoint_modules(graph, options.step.checkpoint, options.step.checkpoint_plan);
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
