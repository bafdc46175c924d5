#include "cli/model.h"

#include <fmt/format.h>

#include <algorithm>

#include "trace/passes/training_mode.h"
#include "trace/torchscript/load.h"

namespace symprof::cli {
namespace {

bool has_parameters(const Graph& graph) {
  return std::any_of(graph.values.begin(), graph.values.end(),
                     [](const Value& value) { return value.kind == ValueKind::parameter; });
}

trace::TrainingMode training_mode(Mode mode) {
  return mode == Mode::train ? trace::TrainingMode::train : trace::TrainingMode::eval;
}

void decide_mode(const Graph& graph, ModelOptions& options) {
  const bool trains = has_parameters(graph) && !options.step.kv_cache;
  options.step.mode = options.mode.value_or(trains ? Mode::train : Mode::inference);
}

// A script's options decide what its graph is, so they come first.
Graph load_script(TorchLibrary& torch, ModelOptions& options) {
  trace::TorchScriptOptions script{.inputs = options.inputs, .bindings = options.bindings};
  if (options.mode) script.mode = training_mode(*options.mode);
  script.dtype = options.dtype;
  script.gradients = options.mode != Mode::inference;
  script.upper_bounds = options.step.upper_bounds;
  Graph graph = torch.get().load_torchscript(options.model, script);
  decide_mode(graph, options);
  trace::set_training_mode(graph, training_mode(options.step.mode));
  return graph;
}

Graph load_unbound(ModelOptions& options) {
  Graph graph = trace::load(options.model);
  decide_mode(graph, options);
  trace::set_training_mode(graph, training_mode(options.step.mode));
  if (options.dtype) trace::cast_floating_point(graph, *options.dtype);
  return graph;
}

}  // namespace

Graph load_model(TorchLibrary& torch, ModelOptions& options) {
  if (trace::is_torchscript(options.model)) return load_script(torch, options);
  Graph graph = load_unbound(options);
  trace::bind_inputs(graph, options.inputs, options.bindings);
  return graph;
}

void set_size(ModelOptions& options, const std::string& name, std::int64_t size) {
  std::erase_if(options.bindings, [&](const auto& binding) { return binding.first == name; });
  options.bindings.emplace_back(name, size);
}

SymbolRange range_of(const Graph& graph, const std::string& symbol) {
  for (const SymbolRange& range : graph.symbol_ranges)
    if (range.symbol == symbol) return range;
  return {.symbol = symbol};
}

bool is_called(const Value& input, std::size_t dimension, const std::string& name) {
  return input.dimensions[dimension].symbol == name ||
         fmt::format("{}.{}", input.name, dimension) == name;
}

std::string symbol_of(const Graph& graph, const std::string& name) {
  for (const ValueId id : graph.inputs) {
    const Value& input = graph.values[static_cast<std::size_t>(id)];
    for (std::size_t i = 0; i < input.dimensions.size(); ++i)
      if (is_called(input, i, name) && !input.dimensions[i].symbol.empty())
        return input.dimensions[i].symbol;
  }
  return name;
}

std::optional<std::int64_t> given_size(const ModelOptions& options, const std::string& name) {
  for (const auto& [bound, size] : options.bindings)
    if (bound == name) return size;
  return std::nullopt;
}

SizedModel::SizedModel(TorchLibrary& torch, ModelOptions options)
    : torch_(torch), options_(std::move(options)) {
  if (!trace::is_torchscript(options_.model)) unbound_ = load_unbound(options_);
}

Graph SizedModel::at(const Bindings& sizes) {
  ModelOptions sized = options_;
  for (const auto& [name, size] : sizes) cli::set_size(sized, name, size);
  if (!unbound_) {
    Graph graph = load_script(torch_, sized);
    options_.step.mode = sized.step.mode;
    return graph;
  }
  Graph graph = *unbound_;
  trace::bind_inputs(graph, sized.inputs, sized.bindings);
  return graph;
}

}  // namespace symprof::cli
