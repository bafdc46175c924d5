// The calls whose outputs AOTAutograd would keep of a region: a minimum cut between what must not
// be computed again and what backward needs (torch/_functorch/partitioners.py, solve_min_cut). The
// region's inputs are there anyway.
#pragma once

#include <cstdint>
#include <vector>

namespace symprof::plan {

struct CutCall {
  std::int64_t bytes = 0;     ///< Of its outputs; below 0: they cannot be kept.
  bool is_needed = false;     ///< Backward needs an output of it.
  bool is_expensive = false;  ///< It must not run again.
  std::vector<int> reads;     ///< Calls before it whose outputs it reads.
};

/// Indices of the calls to keep, ascending: so few bytes as possible.
std::vector<int> minimum_cut(const std::vector<CutCall>& calls);

}  // namespace symprof::plan
