// Memory of a training loop as counted by the GPU's allocator: the recorded step runs several times
// on the simulated caching allocator, including workspaces and scratch.
//
// Public header.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <vector>

#include "base/device_spec.h"
#include "profile/memory/allocator/caching_allocator.h"
#include "profile/memory/other_calls.h"
#include "profile/memory/peak_doubt.h"
#include "profile/memory/spacers.h"
#include "record/recording.h"

namespace symprof::profile {
class OperatorTable;
}

namespace symprof {

/// Category of a held block.
enum class MemoryCategory : std::uint8_t {
  parameters,
  buffers,
  inputs,
  gradients,
  optimizer,
  kv_cache,     ///< Keys and values of earlier tokens, for attention in inference.
  activations,  ///< Saved for backward.
  temporaries,  ///< Other call outputs, and kernel scratch.
  workspace,    ///< cuBLAS workspaces, and cuDNN's dropout state.
  /// Memory of a multi-rank engine besides the rank's share: gathered parameters, buffers of
  /// collectives, buckets.
  communication,
};
constexpr std::size_t memory_categories = 10;

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

/// Memory held after a call, and the peak while it ran.
struct TimelinePoint {
  CallId call = none;
  MemoryBreakdown held;
  std::int64_t highest_bytes = 0;  ///< Including kernel scratch.
};

/// Memory owned by a node: blocks that it produced, or parameters that it uses.
struct NodeHolding {
  NodeId node = none;  ///< none: cuBLAS workspaces, and unowned blocks.
  MemoryBreakdown held;
};

struct StepMemory {
  std::int64_t peak_allocated_bytes = 0;  ///< torch.cuda.max_memory_allocated
  std::int64_t peak_reserved_bytes = 0;   ///< torch.cuda.max_memory_reserved
  std::int64_t allocated_bytes = 0;       ///< When the loop ends: torch.cuda.memory_allocated
  std::int64_t reserved_bytes = 0;        ///< torch.cuda.memory_reserved
  std::int64_t small_segments_bytes = 0;  ///< Of these, segments for blocks of up to 1 MiB.
  CallId peak_call = none;                ///< The call that ran at the peak of allocated bytes.
  MemoryBreakdown at_peak;
  std::vector<NodeHolding> peak_by_node;  ///< Sums to `at_peak`; nodes that hold nothing left out.
  std::int64_t requested_at_peak_bytes = 0;  ///< Requested bytes; the rest is rounding.
  int micro_batches = 1;                     ///< As in LoopOptions.
  std::int64_t alloc_retries = 0;            ///< Requests for which cached memory was released.
  std::int64_t last_step_retries = 0;        ///< Those of the last step.
  /// Calls with scratch of unknown size (cuDNN's plans, or no rule), excluded from totals.
  std::int64_t incomplete_calls = 0;
  bool uses_cublas = false;  ///< True if a call allocates a cuBLAS workspace.
  PeakDoubt doubt;           ///< Lifetime uncertainty of the peaks.
  OtherCalls other_calls;    ///< Tells if the calls may differ from the model's own.
  /// A point for each call of the last step that allocated or freed memory.
  std::vector<TimelinePoint> timeline;
  /// The call whose request failed: the loop ends there, with the peaks until then.
  std::optional<CallId> refused_call;

  /// Reserved but not allocated bytes at the peaks: unusable parts of segments, and cached blocks
  /// of other sizes.
  std::int64_t fragmentation_bytes() const { return peak_reserved_bytes - peak_allocated_bytes; }
};

namespace profile {

/// Settings of the training loop around a recording.
struct LoopOptions {
  AllocatorSettings allocator;
  /// Gradient-accumulation steps: forward and backward passes before each update. The recording
  /// holds one of them.
  int micro_batches = 1;
  /// zero_grad(set_to_none=False): gradients are zeroed in place, and those of the next step are
  /// added to them.
  bool keep_gradients = false;
  /// Optimizer states and both threads' cuBLAS workspaces exist before the first batch, as after
  /// loading a checkpoint. Otherwise they are allocated among the blocks of the first step.
  bool warm_start = false;
  /// Which blocks each forward pass holds so that others lie elsewhere.
  std::vector<Spacer> spacers;
  /// torch.backends.cudnn.benchmark: the first convolution of each shape times cuDNN's plans.
  bool cudnn_benchmark = false;
};

constexpr int most_steps = 10;

/// A part of a program: calls, events and nodes of its recording, half-open. Everything before it
/// has run; nothing after it has.
struct ProgramRange {
  CallId first_call = 0, end_call = 0;
  std::size_t first_event = 0, end_event = 0;
  NodeId first_node = 0, end_node = 0;
};

struct StepMemoryOptions {
  LoopOptions loop;
  /// Device memory available to PyTorch; empty: unlimited.
  std::optional<std::int64_t> device_bytes;
  /// The loop ends at the first request that reserves more than this, as at a failed one. Empty: no
  /// limit.
  std::optional<std::int64_t> most_reserved_bytes;
  /// Number of steps. The first step has no optimizer state and an empty cache, the second a cache
  /// without the blocks that the states took, and later ones may still need more. Empty: steps run
  /// until one after the second raises neither peak, at most `most_steps`; two if the key-value
  /// cache grows.
  std::optional<int> steps;
  /// If `steps` is empty: also run another step after one that released cached memory.
  bool until_settled = false;
  /// The recording is of a program that ran several steps itself: blocks are allocated and freed
  /// when the program did. Peaks and timeline are those of this range. Empty: one step.
  std::optional<ProgramRange> program;
  /// Called with each allocator event and the current call.
  std::function<void(const AllocatorEvent&, CallId)> observer;
  /// The caller's rules, which take precedence over the built-in ones; null: none.
  const OperatorTable* own = nullptr;
};

/// Runs the recorded step as a usual training loop does: the next batch is allocated before the
/// last one is freed, gradients are dropped before the forward pass (zero_grad(set_to_none=True))
/// unless they are kept, and a step's outputs live until their variable is rebound to the next
/// step's.
StepMemory simulate_step_memory(const Recording& recording, const DeviceSpec& device,
                                const StepMemoryOptions& options = {});

/// The allocator's events, and its state at the end.
struct MemoryTrace {
  struct Entry {
    AllocatorEvent event;
    CallId call = none;  ///< none: the model and its batch, before any call.
    /// The owner of the allocated or freed block, as in NodeHolding, and its category.
    NodeId owner = none;
    MemoryCategory category = MemoryCategory::temporaries;
  };
  std::vector<Entry> entries;
  std::vector<SegmentState> segments;
};

/// Simulates the loop of simulate_step_memory as a trace. `options.observer` is not called.
MemoryTrace trace_step_memory(const Recording& recording, const DeviceSpec& device,
                              StepMemoryOptions options = {});

}  // namespace profile
}  // namespace symprof
