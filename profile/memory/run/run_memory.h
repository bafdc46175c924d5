// Memory of a run whose steps differ: tapes of steps, run one after another on one simulated
// allocator.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "profile/memory/allocator/caching_allocator.h"
#include "profile/memory/run/step_tape.h"

namespace symprof::profile {

/// What the allocator says after a step; peaks since the step before.
struct RunRow {
  std::int64_t allocated_bytes = 0, reserved_bytes = 0;
  std::int64_t peak_allocated_bytes = 0, peak_reserved_bytes = 0;
  std::int64_t inactive_split_bytes = 0;
  std::int64_t segments = 0;
  std::int64_t alloc_retries = 0, device_frees = 0;  ///< Since the run began.

  bool operator==(const RunRow&) const = default;
};

/// A request that was refused.
struct Refusal {
  std::size_t row = 0;
  std::int64_t bytes = 0;            ///< Asked for.
  std::int64_t allocated_bytes = 0;  ///< At that moment.
  std::int64_t reserved_bytes = 0;
};

struct RunOptions {
  AllocatorSettings allocator;
  std::optional<std::int64_t> device_bytes;  ///< What PyTorch may take; empty: as much as it asks.
  std::int64_t total_bytes = 0;              ///< As in CachingAllocator.
};

struct RunMemory {
  std::vector<RunRow> rows;        ///< After a refusal, that of the refused step is the last.
  std::optional<Refusal> refused;  ///< The run ends there.
  /// Blocks of a step of which the step after it knows nothing: steps do not fit together.
  std::int64_t unmatched_blocks = 0;
};

/// A run on an allocator, step by step.
class RunPlayer {
 public:
  explicit RunPlayer(const RunOptions& options);

  /// Runs one more step. False where a request is refused; the run is over then.
  bool play(const StepTape& tape);
  /// Since the step before the last.
  RunRow row() const;
  std::int64_t refused_bytes() const { return refused_bytes_; }
  std::int64_t unmatched_blocks() const { return unmatched_; }
  std::vector<SegmentState> segments() const { return allocator_.snapshot(); }

 private:
  using Blocks = std::array<std::vector<Block*>, memory_categories>;  // Null: not there.

  bool play(const TapeEvent& event);
  Block*& block_of(const BlockKey& key);
  bool take(Block*& block, const TapeEvent& event);
  void carry(const StepTape& tape);

  CachingAllocator allocator_;
  std::vector<Block*> slots_;
  Blocks kept_, carried_;
  std::int64_t refused_bytes_ = 0, unmatched_ = 0;
};

/// `order`: the tape of each step.
RunMemory play_run(std::span<const StepTape> tapes, std::span<const std::int32_t> order,
                   const RunOptions& options);

}  // namespace symprof::profile
