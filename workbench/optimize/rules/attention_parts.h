// Decomposed attention: common to the rules that fuse it.
#pragma once

#include <string>
#include <vector>

#include "workbench/optimize/editor.h"

namespace symprof::workbench::rules {

struct AttentionParts {
  std::string q, k, v;  ///< [batch, heads, length, size]; one head: [batch, length, size].
  std::vector<std::int64_t> key_order;  ///< The permutation of k to that layout.
  std::string mask;                     ///< Added to scores, or a boolean selection; may be empty.
  enum class Mask : std::uint8_t { none, added, hidden, seen } mask_is = Mask::none;
  Type scores;
  double scale = 1;
};

/// The parts of attention whose last product is `node`; empty if it is none.
std::optional<AttentionParts> attention_parts(const Editor& editor, int node);

/// Keys in the layout of queries, as the operators take them.
std::string keys_of(Editor& editor, int node, const AttentionParts& parts);

/// The operand that `value` repeats for each group of heads, [batch, fewer heads, length, size];
/// empty if it repeats nothing.
std::string ungrouped(const Editor& editor, const std::string& value);

/// Numbers of a constant mask of limited size; else empty.
std::vector<double> mask_numbers(const Editor& editor, const std::string& mask);

}  // namespace symprof::workbench::rules
