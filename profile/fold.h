// Fewer rows: nodes folded into modules or operators, with nothing lost and nothing counted twice.
//
// Public header.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profile/profile.h"

namespace symprof::profile {

enum class FoldBy : std::uint8_t { node, module, op };

struct FoldOptions {
  FoldBy by = FoldBy::node;
  /// For modules: how many components of the path stay apart ("encoder.layers" at 2). Empty: the
  /// modules that torch.fx shows as one call, see fold().
  std::optional<int> depth;
};

struct FoldedRow {
  std::string kind;  ///< As torch.fx prints it: placeholder, call_module, call_function, output.
  std::string name;
  std::string module;  ///< Path; empty at the root and where rows are operators.
  RowFigures figures;
  std::vector<NodeId> nodes;  ///< In the order in which they ran.
};

/// By node: each as it is. By operator: nodes of one operator, wherever they are.
///
/// By module at a depth: nodes whose module path begins with the same components, in order of first
/// appearance; a node at the root keeps its own row. Without a depth, as torch.fx's Tracer does
/// (torch/fx/_symbolic_trace.py, is_leaf_module): consecutive nodes of one call of a module of
/// torch.nn become one row, the outermost such module that is no plain container; other nodes keep
/// their rows. Two calls of one module that follow each other directly are one row.
///
/// Inputs, outputs, loss and optimizer always keep their rows. Figures fold as their table says
/// (profile/figures.h). Some are counted anew: a parameter counts once in a row; outputs, saved or
/// not, are the storages that the row made and that a node outside it takes; gradients are those of
/// inputs that come from outside the row, an input that several of its nodes take counted once.
std::vector<FoldedRow> fold(const Profile& profile, const FoldOptions& options);

}  // namespace symprof::profile
