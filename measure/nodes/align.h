// Aligns operators of a run with nodes of a model by names, shapes and order.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace symprof::measure::nodes {

/// A node of the model, or an operator of the program, for comparison.
struct Step {
  std::string name;                 ///< Name as called: "aten::conv2d".
  std::vector<std::string> family;  ///< family_of() of it and of all that it calls; sorted.
  /// Sizes of its tensors; empty: unknown.
  std::vector<std::vector<std::int64_t>> sizes;
};

/// The common name of an operator's implementations: "batch_norm" for aten::cudnn_batch_norm,
/// aten::native_batch_norm and aten::batch_norm; "relu" for aten::relu_.
std::string family_of(std::string_view op);

/// Sorts `family` and removes duplicates.
void tidy(std::vector<std::string>& family);

/// For each entry of `run` its index in `model`, or -1: the order-preserving alignment with the
/// best match of names and shapes (Needleman and Wunsch 1970). The batch, the first size of an
/// activation, may differ. Throws Error if the two are too long to compare.
std::vector<std::int32_t> align(const std::vector<Step>& model, const std::vector<Step>& run);

}  // namespace symprof::measure::nodes
