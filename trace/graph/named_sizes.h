// The dimensions of a graph's inputs by the names that a user gives them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "trace/graph/graph.h"

namespace symprof::trace {

/// Whether `name` means this dimension of `input`: its symbol, or "<input>.<index>".
bool is_called(const Value& input, std::size_t dimension, const std::string& name);

/// `name` where a dimension is called so. Else what "batch" and "seq" usually mean: the symbol that
/// is the first dimension of all inputs, and the one that is the second of all integer inputs
/// (torch.export calls `Dim("batch")` s77); other names stay as they are.
std::string resolved_name(const Graph& graph, const std::string& name);

/// The symbol of the dimension that `name` means; other names are symbols themselves.
std::string symbol_of(const Graph& graph, const std::string& name);

/// The sizes of `symbol` that the file was exported for; any where it does not say.
SymbolRange range_of(const Graph& graph, const std::string& symbol);

/// A dimension of an input, in a graph whose inputs are bound.
struct NamedDimension {
  std::int64_t size = 1;             ///< In the step.
  std::int64_t factor = 1;           ///< The file says that sizes are multiples of it.
  std::optional<std::int64_t> most;  ///< The largest size that the file allows.
};

/// The last dimension that `name` means; one of size 1 where none is called so.
NamedDimension dimension_called(const Graph& graph, const std::string& name);

/// The dimension that sizes the batch: the first of the first input that has one of its own.
struct BatchDimension {
  std::string symbol;
  std::int64_t size = 0;   ///< In the step.
  std::int64_t least = 1;  ///< The smallest size that the file was exported for.
};

/// The batch dimension of `graph`; empty where the file fixes its size.
std::optional<BatchDimension> batch_dimension(const Graph& graph);

}  // namespace symprof::trace
