// What a step asks of the allocator, cut out of a loop so that it can run after any other
// step of that loop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "profile/memory/block_events.h"

namespace symprof::profile {

/// A block that outlives the step which makes it, named so that steps of other shapes know it: the
/// n-th of its category in the step, or, of those that the loop keeps, in the loop.
struct BlockKey {
  MemoryCategory category = MemoryCategory::temporaries;
  bool is_kept = false;  ///< No step gives it back: weights, optimizer states, workspaces.
  std::int32_t ordinal = 0;

  bool operator==(const BlockKey&) const = default;
};

struct TapeEvent {
  enum class Kind : std::uint8_t {
    take,
    give_back,
    take_kept,          ///< Of a block that the loop keeps: unless it is there already.
    give_back_carried,  ///< Of a block of an earlier step.
    empty_cache,
  };
  Kind kind = Kind::take;
  MemoryCategory category = MemoryCategory::temporaries;  ///< Of a block that is kept or carried.
  std::int32_t number = 0;  ///< Its ordinal; else the slot of a block of this step.
  std::int64_t bytes = 0;
  StreamId stream = 0;
};

struct StepTape {
  struct Carried {
    std::int32_t slot = 0;
    BlockKey key;
  };
  std::vector<TapeEvent> events;
  std::int32_t slots = 0;
  std::vector<Carried> carried;  ///< Held when the step ends; a later step gives them back.
};

/// `ends`: for each step, the number of events until it has ended. A block that is never given back
/// counts as kept, also one of the last step: so the caller adds a step that it does not use.
std::vector<StepTape> cut_into_tapes(std::span<const BlockEvent> events,
                                     std::span<const std::size_t> ends);

/// The step as a function whose blocks all go when it returns: nothing of it is there for a later
/// step, and it gives back nothing of an earlier one.
StepTape as_function(StepTape tape);

}  // namespace symprof::profile
