// Attention in its parts: what the rules that make one operator of it share.
#pragma once

#include <string>
#include <vector>

#include "workbench/optimize/editor.h"

namespace symprof::workbench::rules {

struct AttentionParts {
  std::string q, k, v;  ///< [batch, heads, length, size], or [batch, length, size] of one head.
  std::vector<std::int64_t> key_order;  ///< By which k is permuted before it is one of those.
  std::string mask;                     ///< Added to scores, or where they count; may be empty.
  enum class Mask : std::uint8_t { none, added, hidden, seen } mask_is = Mask::none;
  Type scores;
  double scale = 1;
};

/// The parts behind a product of weights and values; empty where `node` is none.
std::optional<AttentionParts> attention_parts(const Editor& editor, int node);

/// Keys as the operators take them: in the order of queries.
std::string keys_of(Editor& editor, int node, const AttentionParts& parts);

/// What `value` repeats for each group of heads, [batch, fewer heads, length, size]; empty where it
/// repeats nothing.
std::string ungrouped(const Editor& editor, const std::string& value);

/// Numbers of a constant mask that is not too large; empty for others.
std::vector<double> mask_numbers(const Editor& editor, const std::string& mask);

}  // namespace symprof::workbench::rules
