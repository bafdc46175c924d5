// The memory of a training loop, and the options of its simulation: plain data
// (profile/memory/step_memory.h computes it).
//
// Public header.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <vector>

#include "profile/memory/allocator/caching_allocator.h"
#include "profile/memory/other_calls.h"
#include "profile/memory/peak_uncertainty.h"
#include "record/recording.h"

namespace symprof::profile {
class OperatorTable;
}

namespace symprof {

/// The use of a block.
enum class MemoryCategory : std::uint8_t {
  parameters,
  buffers,
  inputs,
  gradients,
  optimizer,
  kv_cache,     ///< Keys and values of earlier tokens, for attention in inference.
  activations,  ///< Saved for backward.
  temporaries,  ///< Everything else that calls make, and the scratch of kernels.
  workspace,    ///< cuBLAS's workspaces, and cuDNN's dropout state.
  /// Memory of a distributed engine beside the rank's own shards: gathered parameters, buffers of
  /// collectives, buckets.
  communication,
  persistent,  ///< Other tensors from before a program's step: averaged weights, memory banks.
};
constexpr std::size_t memory_categories = 11;

/// Bytes by category, each block as the allocator counts it.
struct MemoryBreakdown {
  std::array<std::int64_t, memory_categories> bytes{};

  std::int64_t& operator[](MemoryCategory category) {
    return bytes[static_cast<std::size_t>(category)];
  }
  std::int64_t operator[](MemoryCategory category) const {
    return bytes[static_cast<std::size_t>(category)];
  }
  MemoryBreakdown& operator+=(const MemoryBreakdown& other) {
    for (std::size_t i = 0; i < memory_categories; ++i) bytes[i] += other.bytes[i];
    return *this;
  }
  std::int64_t total() const {
    return std::accumulate(bytes.begin(), bytes.end(), std::int64_t{0});
  }
};

/// Bytes held after a call, and the highest number while it ran.
struct TimelinePoint {
  CallId call = none;
  MemoryBreakdown held;
  std::int64_t highest_bytes = 0;  ///< Includes scratch memory of kernels.
};

/// Bytes held on behalf of one node: blocks that the node allocated, or parameters that it uses.
struct NodeHolding {
  NodeId node = none;  ///< none: cuBLAS's workspaces, and blocks without an owner.
  MemoryBreakdown held;
};

struct StepMemory {
  std::int64_t peak_allocated_bytes = 0;  ///< torch.cuda.max_memory_allocated
  std::int64_t peak_reserved_bytes = 0;   ///< torch.cuda.max_memory_reserved
  std::int64_t allocated_bytes = 0;       ///< When the loop ends: torch.cuda.memory_allocated
  std::int64_t reserved_bytes = 0;        ///< torch.cuda.memory_reserved
  std::int64_t requested_bytes = 0;       ///< Requested sizes of the held blocks, before rounding.
  std::int64_t peak_requested_bytes = 0;  ///< Its own highest value.
  std::int64_t small_segments_bytes = 0;  ///< Of these, segments for blocks of up to 1 MiB.
  CallId peak_call = none;                ///< The call that ran at the peak of allocated bytes.
  MemoryBreakdown at_peak;
  std::vector<NodeHolding> peak_by_node;  ///< Sums to `at_peak`; nodes that hold nothing left out.
  std::int64_t requested_at_peak_bytes = 0;  ///< Requested sizes, before rounding.
  int micro_batches = 1;                     ///< As in LoopOptions.
  /// Requests for which cached blocks were released to the device.
  std::int64_t alloc_retries = 0;
  std::int64_t last_step_retries = 0;  ///< Retries in the last step.
  /// Calls of the recording that take memory whose size only a library knows (cuDNN's plans), or
  /// without a rule: excluded from totals.
  std::int64_t incomplete_calls = 0;
  /// Of these, the calls of operators without any rule: the peaks are lower bounds.
  std::int64_t unmodelled_calls = 0;
  bool uses_cublas = false;     ///< True if a call makes cuBLAS allocate a workspace.
  PeakUncertainty uncertainty;  ///< Why the peaks may be lower bounds.
  OtherCalls other_calls;       ///< Memory that calls outside the recorded graph may add.
  /// A point for each call of the last step that allocated or freed memory.
  std::vector<TimelinePoint> timeline;
  /// The call whose request failed: the loop ends there, and the peaks are those up to there.
  std::optional<CallId> refused_call;

  /// Reserved bytes that hold no tensor: remainders of segments that no request fits into, and
  /// cached blocks of other sizes.
  std::int64_t fragmentation_bytes() const { return peak_reserved_bytes - peak_allocated_bytes; }
};

namespace profile {

/// Properties of the training loop that a recording of one step does not have.
struct LoopOptions {
  AllocatorSettings allocator;
  /// Forward and backward passes that accumulate gradients before each update. The recording has
  /// one of them.
  int micro_batches = 1;
  /// zero_grad(set_to_none=False): gradients stay allocated and are zeroed; the next step
  /// accumulates into them.
  bool keep_gradients = false;
  /// The optimizer's states and both threads' cuBLAS workspaces exist before the first batch, as
  /// after loading a checkpoint. Otherwise they are allocated among the blocks of the first step
  /// and stay there.
  bool warm_start = false;
  /// torch.backends.cudnn.benchmark: the first convolution of each shape tries cuDNN's plans.
  bool cudnn_benchmark = false;
};

constexpr int most_steps = 10;

/// A part of a program's recording: half-open ranges of calls, events and nodes.
struct ProgramRange {
  CallId first_call = 0, end_call = 0;
  std::size_t first_event = 0, end_event = 0;
  NodeId first_node = 0, end_node = 0;
  /// Of Recording::cache_emptied_before: how often the cache had been emptied when the range began,
  /// where that is known.
  std::optional<std::size_t> first_emptied = {};
};

struct StepMemoryOptions {
  LoopOptions loop;
  /// Device memory that PyTorch may use; empty: unlimited.
  std::optional<std::int64_t> device_bytes;
  /// The loop ends at the first request that would reserve more than this, as if it had failed.
  /// Empty: no limit.
  std::optional<std::int64_t> most_reserved_bytes;
  /// Number of steps to simulate. The first step starts with an empty cache and no optimizer state;
  /// the second lacks the blocks that the states took; a later one may still reserve more. Empty:
  /// steps are added until one after the second raises neither peak, at most `most_steps`; two
  /// steps if a key-value cache grows.
  std::optional<int> steps;
  /// If `steps` is empty: a step that released cached blocks to the device is followed by another
  /// one.
  bool until_settled = false;
  /// For a recording of a whole program with several steps: every block is allocated and freed as
  /// recorded, and peaks and timeline are those of this range. Empty: the recording is one step.
  std::optional<ProgramRange> program;
  /// Called with each event of the allocator and the current call.
  std::function<void(const AllocatorEvent&, CallId)> observer;
  /// Rules that take precedence over the built-in ones; null: none.
  const OperatorTable* own = nullptr;
};

}  // namespace profile

}  // namespace symprof
