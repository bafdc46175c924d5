#include "trace/torchscript/load.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "base/error.h"
#include "meta/fake/error_text.h"
#include "meta/fake/fake_mode.h"
#include "meta/fake/saved_tensor_hooks.h"
#include "meta/kernels/package_operators.h"
#include "trace/passes/unregistered_tensors.h"
#include "trace/python/dtypes/autocast_casts.h"
#include "trace/python/dtypes/exported_masks.h"
#include "trace/torchscript/archive.h"
#include "trace/torchscript/deep_stack.h"
#include "trace/torchscript/inputs.h"
#include "trace/torchscript/limits.h"
#include "trace/torchscript/module_tree.h"
#include "trace/torchscript/python_sources.h"
#include "trace/torchscript/walk_observer.h"
#include "trace/torchscript/walker.h"

namespace symprof::trace {
namespace {

using torchscript::GraphRecorder;

// Tensors anywhere in the result, in order.
void collect_outputs(const c10::IValue& value, GraphRecorder& recorder, Graph& graph) {
  if (value.isTensor() && value.toTensor().defined()) {
    graph.outputs.push_back(recorder.value_of(value.toTensor()));
  } else if (value.isTuple()) {
    for (const c10::IValue& element : value.toTupleRef().elements())
      collect_outputs(element, recorder, graph);
  } else if (value.isList()) {
    for (const c10::IValue& element : value.toList()) collect_outputs(element, recorder, graph);
  } else if (value.isGenericDict()) {
    for (const auto& entry : value.toGenericDict()) collect_outputs(entry.value(), recorder, graph);
  }
}

bool trains(const torch::jit::Module& module, const TorchScriptOptions& options) {
  if (options.mode) return *options.mode == TrainingMode::train;
  return module.parameters().size() > 0;
}

/// No backward pass while a script is walked: saved tensors are not kept alive.
struct ForgettingHooks final : torch::autograd::SavedVariableHooks {
  void call_pack_hook(const at::Tensor&) override {}
  at::Tensor call_unpack_hook() override {
    TORCH_CHECK(false, "the code asks for gradients, which are not computed while it is read");
  }
};

bool is_trace(const torchscript::Archive& archive) { return !archive.example_inputs.empty(); }

/// Options of the walk: a trace does not branch on dtypes, so it is walked in its own dtype, which
/// shows the effect of its casts.
TorchScriptOptions walk_options(const torchscript::Archive& archive,
                                const TorchScriptOptions& options) {
  TorchScriptOptions result = options;
  if (!is_trace(archive) || !options.dtype) return result;
  result.dtype.reset();
  for (InputOverride& input : result.inputs)
    if (input.dtype && is_floating_point(*input.dtype)) input.dtype.reset();
  return result;
}

/// Casts the graph of a trace; inputs given with a dtype keep it.
void cast_trace(Graph& graph, const TorchScriptOptions& options, const FunctionCalls& calls) {
  cast_floating_point(graph, *options.dtype, calls);
  for (const InputOverride& given : options.inputs)
    for (const ValueId id : graph.inputs)
      if (given.dtype && graph.value(id).name == given.name && graph.value(id).spec)
        graph.value(id).spec->dtype = *given.dtype;
}

constexpr std::string_view lost_regions =
    "this is a trace: it does not show where the code says `with torch.no_grad():` or `with "
    "torch.autocast(...):`. What runs in such a block is counted as if it ran outside. "
    "torch.export keeps both, and the Python that was traced has both (python_sources). Calls "
    "whose results nothing uses are not in a trace, and neither are names that only modules and "
    "PyTorch's functions in Python are given: what had such a name before seems to live on.";

std::optional<torchscript::PythonSources> sources_of(const torchscript::Archive& archive,
                                                     const TorchScriptOptions& options,
                                                     Graph& graph) {
  if (options.python_sources.empty()) return std::nullopt;
  if (!is_trace(archive))
    throw Error(SettingRef{"python_sources"}, "the lines of a trace are read, and this is a script",
                "Leave it out: a script keeps its names, and its casts follow what they name.");
  std::optional<torchscript::PythonSources> sources;
  sources.emplace(options.python_sources, graph).judge(archive.module);
  return sources;
}

constexpr std::string_view lost_calls =
    "this is a trace: it lacks calls with unused results, the tensors that autograd would save for "
    "them, and the variables that they rebind.";

void note_sources(const torchscript::PythonSources& sources, Graph& graph) {
  graph.warnings.emplace_back(lost_calls);
  if (std::string warning = sources.warning(); !warning.empty())
    graph.warnings.push_back(std::move(warning));
}

/// Notes the information that a trace lacks without its Python lines.
void note_lost(Graph& graph, const TorchScriptOptions& options, bool makes_masks) {
  note_kept_casts(graph);
  if (makes_masks) {
    graph.has_export_masks = true;
    graph.warnings.push_back(exported_masks_warning("transformers/masking_utils.py"));
  }
  if (options.gradients) graph.warnings.emplace_back(lost_regions);
}

Graph walk(const std::string& path, const TorchScriptOptions& asked,
           const std::shared_ptr<torchscript::WalkObserver>& observer, bool follows_values) {
  Graph graph{.path = path, .format = "torchscript", .traits = script_traits};
  graph.producer = "torch.jit", graph.follows_values = follows_values;
  const kernels::PackageOperators operators;
  torchscript::Archive archive = torchscript::read_archive(path);
  const TorchScriptOptions options = walk_options(archive, asked);
  graph.cast_to = options.dtype;
  if (!archive.module.find_method("forward"))
    throw Error(path, "its module has no method forward", "Save the module that is to be called.");
  archive.module.train(trains(archive.module, options));
  const torch::jit::Method forward = archive.module.get_method("forward");
  const c10::FunctionSchema& schema = forward.function().getSchema();
  torchscript::declare_inputs(graph, schema, archive.example_inputs, options);

  if (has_values(graph)) observer->follow_values();
  const meta::FakeMode mode({}, observer);
  const meta::SavedTensorHooks hooks([] { return std::make_unique<ForgettingHooks>(); });
  const c10::AutoGradMode gradients(options.gradients);
  std::optional<torchscript::PythonSources> sources = sources_of(archive, options, graph);
  GraphRecorder recorder(graph, !sources);
  const c10::IValue root = archive.module._ivalue();
  const torchscript::ModuleTree modules(root, recorder, options.dtype);
  torchscript::Walker walker(graph, recorder, modules,
                             {.traced = is_trace(archive),
                              .constants_are_whole = archive.constants_are_whole,
                              .most_steps = options.most_steps,
                              .sources = sources ? &*sources : nullptr});
  const auto arguments = torchscript::make_arguments(graph, schema, recorder);
  collect_outputs(walker.call_method(root, "forward", arguments, 0), recorder, graph);
  walker.finish();
  recorder.release_rest();
  if (sources) {
    note_sources(*sources, graph);
    note_unregistered_tensors(graph, options.python_sources);
  }
  if (!sources && is_trace(archive)) note_lost(graph, options, walker.makes_masks());
  if (asked.dtype && !options.dtype) cast_trace(graph, asked, walker.function_calls());
  verify(graph);
  return graph;
}

/// Tracks values if the code needs one: it may depend on numbers in the file (`torch.arange(1,
/// 4).tolist()`).
Graph walk_with_values(const std::string& path, const TorchScriptOptions& options) {
  const bool bounds = options.unbacked == UnbackedSizes::max;
  const auto observer = std::make_shared<torchscript::WalkObserver>(bounds);
  try {
    return walk(path, options, observer, false);
  } catch (const Error&) {
    if (!observer->needs_values() || observer->follows_values()) throw;
  }
  return walk(path, options, std::make_shared<torchscript::WalkObserver>(bounds), true);
}

}  // namespace

Graph load_torchscript(const std::string& path, const TorchScriptOptions& options) {
  torchscript::check_limits(path);
  std::optional<Graph> graph;
  try {
    torchscript::run_on_deep_stack([&] { graph = walk_with_values(path, options); });
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    throw Error(path, meta::first_line(error),
                "LibTorch cannot follow its code: write it again with torch.jit.save.");
  }
  graph->traits.has_python_lines = !graph->source_lines.empty();
  return std::move(*graph);
}

}  // namespace symprof::trace
