// The same inputs and weights for both sides of a comparison.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "workbench/compare/side.h"

namespace symprof::workbench {

struct SharedInputs {
  ValueRunner::Leaves given;                  ///< By input name of either side.
  std::map<std::string, std::int64_t> sizes;  ///< Of symbolic dimensions.
  std::uint64_t seed = 0;
  bool random_weights = false;  ///< Replaces weights that both files have by random ones, by name.
};

/// By ValueId of each side: exclusive bounds of integer inputs.
struct InputBounds {
  std::vector<std::int64_t> a, b;
};

/// Fills the leaves of both sides. An input of B gets the values of A's input of its name, else of
/// the next one of its type and shape, else of A's weight of its name or, in a graph whose weights
/// are inputs, of its type and shape; else its own values. Inputs whose names contain "mask" hide
/// only the last tokens of the last sequence (integers and booleans: 1 and 0; floats: 0
/// everywhere); others are random. Weights that neither file has are random, equal on both sides
/// for one name; a weight in only one file is used for both. Throws Error for a given name that
/// neither side has, and for inputs that cannot be drawn.
void give_inputs(Side& a, Side& b, const InputBounds& bounds, const SharedInputs& options);

/// "input_ids int64[2, 8], attention_mask bool[2, 8]": the inputs of a side.
std::string inputs_text(const Side& side);

}  // namespace symprof::workbench
