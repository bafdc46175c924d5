// A model file as a graph that is ready to run.
#pragma once

#include "cli/model_options.h"
#include "cli/torch_library.h"
#include "trace/graph/graph.h"

namespace symprof::cli {

/// Reads the file, switches it to the mode and the dtype that are asked for and binds its inputs.
/// Decides `options.step.mode` where the user left it open. Throws Error.
Graph load_model(TorchLibrary& torch, ModelOptions& options);

using Bindings = std::vector<std::pair<std::string, std::int64_t>>;

/// What --set gives for `name`.
std::optional<std::int64_t> given_size(const ModelOptions& options, const std::string& name);

/// `options` with another size of `name`.
void set_size(ModelOptions& options, const std::string& name, std::int64_t size);

/// Whether --set would call this dimension of `input` `name`.
bool is_called(const Value& input, std::size_t dimension, const std::string& name);

/// The symbol of the dimension that "<input>.<index>" means; other names are symbols themselves.
std::string symbol_of(const Graph& graph, const std::string& name);

/// The sizes of `symbol` that the file was exported for; any where it does not say.
SymbolRange range_of(const Graph& graph, const std::string& symbol);

/// A model that runs at many sizes: its file is read once, but for a script, whose sizes decide
/// what its graph is.
class SizedModel {
 public:
  /// Decides `options.step.mode` as load_model does. Throws Error.
  SizedModel(TorchLibrary& torch, ModelOptions options);

  const ModelOptions& options() const { return options_; }
  /// As the file has it, without sizes; null for a script.
  const Graph* unbound() const { return unbound_ ? &*unbound_ : nullptr; }
  /// From here on.
  void set_size(const std::string& name, std::int64_t size) { cli::set_size(options_, name, size); }
  /// With `sizes` in place of what the options give for the same names. Throws Error.
  Graph at(const Bindings& sizes);

 private:
  TorchLibrary& torch_;
  ModelOptions options_;
  std::optional<Graph> unbound_;
};

}  // namespace symprof::cli
