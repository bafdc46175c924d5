// Packing of blocks into segments, and dual-feasible weights: no segment holds blocks of more
// weight than its bytes.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

namespace symprof::profile {

/// The maximal weight of blocks of one pool in a number of bytes (of large blocks, if more than a
/// small segment). Sizes are rounded down to cells, so no packing is missed.
class Filling {
 public:
  explicit Filling(std::int64_t bytes);

  std::int64_t bytes() const { return bytes_; }
  std::int64_t most() const { return most_.back(); }

  void add(std::int64_t bytes, std::int64_t weight);

  /// The weight that a block may have besides those added, such that all weigh at most `most`.
  std::int64_t room_for(std::int64_t bytes, std::int64_t most) const;

 private:
  std::int64_t bytes_, cell_;
  std::vector<std::int64_t> most_;  // By available cells.
};

/// Weights by size that maximize the total weight of `counts` blocks, minus the value of `holes`:
/// equal to the minimal segment bytes of a fractional packing. This is the dual of the
/// cutting-stock linear program, with column generation (Gilmore and Gomory, Operations Research 9,
/// 1961); less if it takes too long. `holes`: number by bytes. Each size fits into one of the
/// segments, or is one of `own`, which may have a segment of exactly its bytes.
std::map<std::int64_t, std::int64_t> packing_weights(
    const std::map<std::int64_t, std::int64_t>& counts, const std::set<std::int64_t>& segments,
    const std::set<std::int64_t>& own, const std::map<std::int64_t, std::int64_t>& holes);

}  // namespace symprof::profile
