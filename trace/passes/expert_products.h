// Mixture of experts with grouped products: a single call multiplies the rows of tokens, sorted by
// expert, each with its expert's matrix (torch._grouped_mm, and its fallback in transformers).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "trace/graph/graph.h"
#include "trace/graph/recorded_specs.h"

namespace symprof::trace {

/// The products of the experts of one module, from rows of tokens to rows of tokens.
struct ExpertProducts {
  std::vector<std::size_t> products;  ///< Nodes, in order; the last one makes the result.
  ValueId rows = no_value;            ///< The operand of the first product: [rows, features].
  ValueId ends = no_value;            ///< By expert: where its rows end.
  std::vector<ValueId> weights;       ///< Parameters of which dimension 0 are the experts.
  std::int64_t experts = 0;
  std::vector<std::size_t> between;  ///< Nodes from the first product to the last, neither of them.
};

/// The module that makes the products: "model.layers.0.mlp.experts".
std::string module_of(const ExpertProducts& experts, const Graph& graph);

/// In the order of the graph. Other kinds of experts are left out: a module or a loop per expert,
/// batched products of padded rows, and experts between whose products rows meet others that the
/// rank would not have. `specs` are those of `graph`.
std::vector<ExpertProducts> find_experts(const Graph& graph, const ValueSpecs& specs);

}  // namespace symprof::trace
