// Fixes the shapes of a graph's inputs before it runs.
//
// Public header.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "trace/graph/graph.h"
#include "trace/passes/given_input.h"

namespace symprof::trace {

/// Parses "x=float32[8,3,224,224]", "x=[batch,3,224,224]" and "lengths=int64[3]{80,60,40}". Throws
/// Error on anything else.
InputOverride parse_input_override(const std::string& text);

/// `input` as it was written, else "x=float32[8,3,224,224]".
std::string to_string(const InputOverride& input);

/// Parses "batch=8". Throws Error on anything else.
std::pair<std::string, std::int64_t> parse_binding(const std::string& text);

/// Gives every input a concrete spec: overrides first, then bindings of symbols, then the example's
/// sizes. An input that is given values has them as its constant. A binding may also give an
/// unbacked size of a result (u0). Throws Error for an unknown input or symbol (nearest one
/// suggested), for a size below zero, and for a symbol that nothing fixes (the message names the
/// setting that would), and for values that are not those of the input.
void bind_inputs(Graph& graph, const std::vector<InputOverride>& overrides,
                 const std::vector<std::pair<std::string, std::int64_t>>& bindings);

/// True if a bound graph has an input with values.
bool has_values(const Graph& graph);

}  // namespace symprof::trace
