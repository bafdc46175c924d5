// Which spacers a loop should hold, so that a step's large blocks find room in one segment that it
// takes up front (AllocatorSettings::up_front_bytes).
//
// Public header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/device_spec.h"
#include "profile/memory/spacers.h"
#include "profile/memory/step_memory.h"
#include "record/recording.h"

namespace symprof::profile {

/// What a loop asks the allocator for in blocks of more than `small_limit_bytes`, and when it gives
/// them back: played again and again with other spacers, far quicker than the step.
class LargeRequests {
 public:
  /// `loop` without spacers.
  LargeRequests(const Recording& recording, const DeviceSpec& device, const LoopOptions& loop);

  /// Of the loop's segments for small blocks, which nothing up front changes.
  std::int64_t small_segments_bytes() const { return small_segments_bytes_; }
  /// The most that large blocks have together.
  std::int64_t highest_bytes() const { return highest_bytes_; }
  /// Of large blocks, ascending.
  const std::vector<std::int64_t>& sizes() const { return sizes_; }
  /// Where spacers may begin and end: modules between whose begins the forward pass asks for large
  /// blocks, or gives them back.
  const std::vector<std::string>& places() const { return places_; }

  /// A spacer between two of places().
  struct Placed {
    std::int64_t bytes = 0;
    std::size_t from = 0, until = 0;

    bool operator==(const Placed&) const = default;
  };
  struct Played {
    std::int64_t missing_bytes = 0;
    std::ptrdiff_t requests = 0;  ///< That were played.
  };
  /// By how much a segment of `bytes` has to be longer for all requests to find room in it, as if
  /// it grew where one finds none. Ends where that is more than `most_missing_bytes`.
  Played play(const std::vector<Placed>& spacers, std::int64_t bytes,
              std::int64_t most_missing_bytes) const;

 private:
  struct Request {
    std::size_t block = 0;
    std::int64_t bytes = 0;  ///< 0: it is given back.
  };
  /// A forward and a backward pass, and an update.
  struct Pass {
    std::size_t begin = 0;            ///< Of its requests.
    std::vector<std::size_t> before;  ///< By place: the first request that comes after its begin.
  };

  void read(const MemoryTrace& trace, const std::vector<ModuleBegin>& begins);
  /// Modules have begun by `call`; it comes after `last`.
  void note_begins(const std::vector<ModuleBegin>& begins, CallId call, CallId last);
  void choose_places(const std::vector<ModuleBegin>& begins);

  AllocatorSettings allocator_;
  std::vector<Request> requests_;
  std::vector<Pass> passes_;
  std::size_t blocks_ = 0;
  std::int64_t small_segments_bytes_ = 0, highest_bytes_ = 0;
  std::vector<std::int64_t> sizes_;
  std::vector<std::string> places_;
};

constexpr std::size_t most_spacers = 4;

/// Up to so many spacers with which all of `requests` find room in one segment of `bytes` that is
/// there up front; without value: none were found. `most_requests` are played at most, which is
/// less afterwards.
std::optional<std::vector<Spacer>> find_spacers(const LargeRequests& requests, std::int64_t bytes,
                                                std::size_t most_spacers,
                                                std::ptrdiff_t& most_requests);

}  // namespace symprof::profile
