// What blocks fill segments, and the weights that say so: no segment holds blocks of more weight
// than it has bytes.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

namespace symprof::profile {

/// The most that blocks of one pool in a number of bytes weigh; where that is more than the small
/// pool's segments have, of large blocks. Their sizes are rounded down to cells, so that no way to
/// fill it is left out.
class Filling {
 public:
  explicit Filling(std::int64_t bytes);

  std::int64_t bytes() const { return bytes_; }
  std::int64_t most() const { return most_.back(); }

  void add(std::int64_t bytes, std::int64_t weight);

  /// What a block may weigh, beside those that were added, so that all weigh `most` at most.
  std::int64_t room_for(std::int64_t bytes, std::int64_t most) const;

 private:
  std::int64_t bytes_, cell_;
  std::vector<std::int64_t> most_;  // By cells that there are.
};

/// By size, weights of which `counts` blocks have the most together, without what `holes` can hold
/// of them: as much as the fewest bytes of segments that hold parts of fillings for all others. The
/// dual of the linear programme of cutting stock, whose columns are found as they are needed
/// (Gilmore and Gomory, Operations Research 9, 1961). Where that takes too long, less. Holes are by
/// bytes: how many there are. Each size fits into one of the segments, or is one of `own`: that may
/// be alone, in as many bytes as it has.
std::map<std::int64_t, std::int64_t> packing_weights(
    const std::map<std::int64_t, std::int64_t>& counts, const std::set<std::int64_t>& segments,
    const std::set<std::int64_t>& own, const std::map<std::int64_t, std::int64_t>& holes);

}  // namespace symprof::profile
