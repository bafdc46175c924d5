// The calls of a region whose outputs AOTAutograd would save: a minimum cut between what must not
// be recomputed and what backward needs (torch/_functorch/partitioners.py, solve_min_cut). The
// region's inputs are kept anyway.
#pragma once

#include <cstdint>
#include <vector>

namespace symprof::plan {

struct CutCall {
  std::int64_t bytes = 0;     ///< Of its outputs; negative: they cannot be kept.
  bool is_needed = false;     ///< Backward needs one of its outputs.
  bool is_expensive = false;  ///< It must not be recomputed.
  std::vector<int> reads;     ///< Earlier calls whose outputs it reads.
};

/// Indices of the calls to keep, ascending: those of the fewest bytes.
std::vector<int> minimum_cut(const std::vector<CutCall>& calls);

}  // namespace symprof::plan
