// The same inputs and weights for both sides of a comparison.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "workbench/compare/side.h"

namespace symprof::workbench {

struct SharedInputs {
  ValueRunner::Leaves given;                  ///< By the name of an input of either side.
  std::map<std::string, std::int64_t> sizes;  ///< Of symbolic dimensions.
  std::uint64_t seed = 0;
  bool random_weights = false;  ///< Those that both files have are drawn, by name.
};

/// Whole numbers of inputs lie below these bounds, by ValueId of each side.
struct InputBounds {
  std::vector<std::int64_t> a, b;
};

/// Fills the leaves of both sides. An input of B gets the values of A's input of its name, else of
/// the first left of its type and shape, else of A's weight of its name or, in a graph whose
/// weights are inputs, of its type and shape; else values of its own. Inputs whose names hold
/// "mask" hide nothing but the last tokens of the last sequence (whole numbers and truth values: 1
/// and 0; floats: 0 everywhere); others are random. Weights that no file has are random, the same
/// on both sides for one name; a weight that one file alone has is used for both. Throws Error for
/// a given name that no side has, and for inputs that cannot be drawn.
void give_inputs(Side& a, Side& b, const InputBounds& bounds, const SharedInputs& options);

/// "input_ids int64[2, 8], attention_mask bool[2, 8]": the inputs of a side.
std::string inputs_text(const Side& side);

}  // namespace symprof::workbench
