// Which operator of a run is which node of a model, by names, shapes and order.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace symprof::measure::nodes {

/// A node of the model, or an operator that the program called, as the two are compared.
struct Step {
  std::string name;                 ///< As its author called it: "aten::conv2d".
  std::vector<std::string> family;  ///< family_of() of it and of all that it calls; sorted.
  /// Sizes of its tensors. No sizes: nothing is known of them.
  std::vector<std::vector<std::int64_t>> sizes;
};

/// What implementations of one operator have in common: "batch_norm" for aten::cudnn_batch_norm,
/// aten::native_batch_norm and aten::batch_norm; "relu" for aten::relu_.
std::string family_of(std::string_view op);

/// Sorts `family` and leaves what stands twice out.
void tidy(std::vector<std::string>& family);

/// For each of `run` the index in `model` that it is, or -1: the matches that keep both orders and
/// agree best in names and shapes (Needleman and Wunsch 1970). The batch, the first size of an
/// activation, may differ. Throws Error where the two are too long to be compared.
std::vector<std::int32_t> align(const std::vector<Step>& model, const std::vector<Step>& run);

}  // namespace symprof::measure::nodes
