// Which segments a loop should take up front (AllocatorSettings::up_front_bytes), so that a step's
// large blocks find room in so many bytes.
//
// PyTorch's allocator gives a request the smallest free block that does. In one segment, what is
// asked for early, and stays, cuts up the place that a large block needs later. A block that finds
// no room may do so in a segment of its own size, and which of several segments has room for what
// decides where all others lie. The same do places of any size between the blocks that a warm start
// makes, which stay (LoopOptions::spacer_bytes).
//
// Public header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/device_spec.h"
#include "profile/memory/step_memory.h"
#include "record/recording.h"

namespace symprof::profile {

/// What a loop asks the allocator for in blocks of more than `small_limit_bytes`, and when it gives
/// them back: played again and again with other segments, far quicker than the step.
class LargeRequests {
 public:
  LargeRequests(const Recording& recording, const DeviceSpec& device, const LoopOptions& loop);

  std::size_t size() const { return requests_.size(); }
  /// Of the loop's segments for small blocks, which no other segment changes.
  std::int64_t small_segments_bytes() const { return small_segments_bytes_; }
  /// The most that large blocks have together.
  std::int64_t highest_bytes() const { return highest_bytes_; }
  /// Of the large blocks that are there before the first batch: all, and how many a warm start
  /// makes.
  std::int64_t first_bytes() const { return first_bytes_; }
  std::size_t separators() const { return separators_; }
  /// Of the blocks that have segments of their own: these, ascending.
  const std::vector<std::int64_t>& own_segments() const { return own_segments_; }
  /// Of large blocks, ascending.
  const std::vector<std::int64_t>& sizes() const { return sizes_; }

  /// A request that finds no room.
  struct Refusal {
    std::size_t at = 0;  ///< How many came before it.
    std::int64_t bytes = 0;
  };
  /// The first one with these segments up front; empty: all find room.
  std::optional<Refusal> refusal(const std::vector<std::int64_t>& up_front_bytes) const;
  /// The same of the requests from the first batch on, in places between the blocks that are there.
  std::optional<Refusal> refusal_between(const std::vector<std::int64_t>& place_bytes) const;

 private:
  struct Request {
    std::size_t block = 0;
    std::int64_t bytes = 0;  ///< 0: it is given back.
  };

  void read(const MemoryTrace& trace);
  std::optional<Refusal> refusal_from(std::size_t first,
                                      const std::vector<std::int64_t>& place_bytes) const;

  AllocatorSettings allocator_;
  std::vector<Request> requests_;
  std::size_t blocks_ = 0, first_count_ = 0, first_blocks_ = 0, separators_ = 0;
  std::int64_t small_segments_bytes_ = 0, highest_bytes_ = 0, first_bytes_ = 0;
  std::vector<std::int64_t> own_segments_, sizes_;
};

/// Segments that have `bytes` or less together, in which all of `requests` find room, the largest
/// first; empty: none were found. `most_requests` are played at most, which is less afterwards.
std::optional<std::vector<std::int64_t>> find_up_front_segments(const LargeRequests& requests,
                                                                std::int64_t bytes,
                                                                std::ptrdiff_t& most_requests);

/// Spacers with which all find room in one segment of `bytes` that is there up front; empty: none
/// were found. As above.
std::optional<std::vector<std::int64_t>> find_spacers(const LargeRequests& requests,
                                                      std::int64_t bytes,
                                                      std::ptrdiff_t& most_requests);

}  // namespace symprof::profile
