// Looks up dimensions of a graph's inputs by user-visible names.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "trace/graph/graph.h"

namespace symprof::trace {

/// True if `name` refers to this dimension of `input`: its symbol, or "<input>.<index>".
bool is_called(const Value& input, std::size_t dimension, const std::string& name);

/// `name` if a dimension has it. Else the usual meaning of "batch" (the symbol of the first
/// dimension of all inputs) and "seq" (of the second of all integer inputs) (torch.export calls
/// `Dim("batch")` s77); other names are returned unchanged.
std::string resolved_name(const Graph& graph, const std::string& name);

/// The symbol of the dimension called `name`; other names are returned as symbols.
std::string symbol_of(const Graph& graph, const std::string& name);

/// The range of `symbol` in the export; unlimited if not given.
SymbolRange range_of(const Graph& graph, const std::string& symbol);

/// A dimension of an input, in a graph whose inputs are bound.
struct NamedDimension {
  std::int64_t size = 1;             ///< In the step.
  std::int64_t factor = 1;           ///< Sizes are multiples of it, according to the file.
  std::optional<std::int64_t> most;  ///< The largest size that the file allows.
};

/// The last dimension called `name`; one of size 1 if none.
NamedDimension dimension_called(const Graph& graph, const std::string& name);

/// The batch dimension: the first dimension of the first input with a symbolic one.
struct BatchDimension {
  std::string symbol;
  std::int64_t size = 0;   ///< In the step.
  std::int64_t least = 1;  ///< The smallest size that the file was exported for.
};

/// The batch dimension of `graph`; empty if its size is static.
std::optional<BatchDimension> batch_dimension(const Graph& graph);

}  // namespace symprof::trace
