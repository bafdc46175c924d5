// Reports all operators without a rule at once, before anything runs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "trace/graph/graph.h"

namespace symprof::shape {

/// True for runtime assertions of an export, which are not run.
bool is_export_assertion(std::string_view op);

/// True if the interpreter can run `node`: LibTorch's dispatcher has the operator, or it is a
/// number operator, a region marker, a higher-order operator, or an ONNX operator that is lowered
/// to ATen calls.
bool has_rule(const Node& node);

/// Operators without a rule where the file gives the shapes of their results (unmodelled.h).
enum class ShapesOfFile : std::uint8_t { are_taken, are_refused };

/// Throws one Error that lists every operator that cannot run, nested graphs included, in the order
/// of first appearance: how many nodes have it and the name of the first.
void check_operators(const Graph& graph, ShapesOfFile shapes = ShapesOfFile::are_taken);

/// The operators that run with the file's shapes, as in that list; empty if there are none.
std::string unmodelled_operators(const Graph& graph);

}  // namespace symprof::shape
