// Folds nodes into rows of modules or operators; every call counts exactly once.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "profile/folded_row.h"

namespace symprof::profile {

enum class FoldBy : std::uint8_t { node, module, op };

struct FoldOptions {
  FoldBy by = FoldBy::node;
  /// For modules: the number of path components to keep ("encoder.layers" at 2). Empty: the modules
  /// that torch.fx shows as one call, see fold().
  std::optional<int> depth;
};

/// By node: each as it is. By operator: nodes of one operator, wherever they are.
///
/// By module at a depth: nodes whose module path begins with the same components, in order of first
/// appearance; a node at the root keeps its own row. Without a depth, as torch.fx's Tracer does
/// (torch/fx/_symbolic_trace.py, is_leaf_module): consecutive nodes of one call of a module of
/// torch.nn become one row, the outermost such module that is not a plain container; other nodes
/// keep their rows. Two consecutive calls of one module are one row.
///
/// Inputs, outputs, loss and optimizer always keep their rows. Figures fold as their table says
/// (profile/figures.h). Some are recounted: a parameter counts once per row; outputs, saved or not,
/// are storages produced in the row and consumed outside it; gradients are those of inputs from
/// outside the row, each input once.
std::vector<FoldedRow> fold(const Profile& profile, const FoldOptions& options);

}  // namespace symprof::profile
