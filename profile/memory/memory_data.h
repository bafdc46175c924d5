// What is known of a training loop's memory, and what it is simulated with: plain data
// (profile/memory/step_memory.h fills it).
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

/// What a block is held for.
enum class MemoryCategory : std::uint8_t {
  parameters,
  buffers,
  inputs,
  gradients,
  optimizer,
  kv_cache,     ///< Keys and values of earlier tokens, for attention in inference.
  activations,  ///< Saved for backward.
  temporaries,  ///< Everything else that calls make, and the scratch of kernels.
  workspace,    ///< Those of cuBLAS, and cuDNN's state of dropout.
  /// What an engine of several ranks holds beside its rank's share: gathered parameters, buffers
  /// of collectives, buckets.
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

/// What is held after a call, and how much it was at most while it ran.
struct TimelinePoint {
  CallId call = none;
  MemoryBreakdown held;
  std::int64_t highest_bytes = 0;  ///< With what kernels take while they run.
};

/// What the module of one node holds, in blocks that the node made or in parameters that it uses.
struct NodeHolding {
  NodeId node = none;  ///< none: cuBLAS's workspaces, and what nothing gives to a node.
  MemoryBreakdown held;
};

struct StepMemory {
  std::int64_t peak_allocated_bytes = 0;  ///< torch.cuda.max_memory_allocated
  std::int64_t peak_reserved_bytes = 0;   ///< torch.cuda.max_memory_reserved
  std::int64_t allocated_bytes = 0;       ///< When the loop ends: torch.cuda.memory_allocated
  std::int64_t reserved_bytes = 0;        ///< torch.cuda.memory_reserved
  std::int64_t requested_bytes = 0;       ///< Of the blocks that are held: what was asked for.
  std::int64_t peak_requested_bytes = 0;  ///< Its own highest value.
  std::int64_t small_segments_bytes = 0;  ///< Of these, segments for blocks of up to 1 MiB.
  CallId peak_call = none;                ///< The call that ran at the peak of allocated bytes.
  MemoryBreakdown at_peak;
  std::vector<NodeHolding> peak_by_node;  ///< Sums to `at_peak`; nodes that hold nothing left out.
  std::int64_t requested_at_peak_bytes = 0;  ///< What the program asked for; the rest is rounding.
  int micro_batches = 1;                     ///< As in LoopOptions.
  std::int64_t alloc_retries = 0;  ///< Requests for which cached memory went back to the device.
  std::int64_t last_step_retries = 0;  ///< Those of the last step.
  /// Calls of the recording that take memory whose size only a library knows (cuDNN's plans), or
  /// without a rule: excluded from totals.
  std::int64_t incomplete_calls = 0;
  bool uses_cublas = false;     ///< Whether a call has cuBLAS make a workspace.
  PeakUncertainty uncertainty;  ///< Whether the peaks are lower bounds.
  OtherCalls other_calls;       ///< Whether they may be those of other calls than the model's own.
  /// A point for each call of the last step that took or gave back memory.
  std::vector<TimelinePoint> timeline;
  /// The call whose request was refused: the loop ends there, and the peaks are those until then.
  std::optional<CallId> refused_call;

  /// What the allocator takes from the device beyond the tensors that it is for: parts of segments
  /// that no request fits into, and cached blocks of another size.
  std::int64_t fragmentation_bytes() const { return peak_reserved_bytes - peak_allocated_bytes; }
};

namespace profile {

/// What a recording does not say of the loop around it.
struct LoopOptions {
  AllocatorSettings allocator;
  /// Forward and backward passes before each update, whose gradients add up. The recording holds
  /// one of them.
  int micro_batches = 1;
  /// zero_grad(set_to_none=False): gradients stay where they are, zeroed, and those of the next
  /// step are added to them.
  bool keep_gradients = false;
  /// Before the first batch the optimizer has made its states, as in a loop that goes on from a
  /// saved one, and the threads of both passes cuBLAS's workspaces. Otherwise these are made among
  /// the blocks of the first step, and stay there.
  bool warm_start = false;
  /// torch.backends.cudnn.benchmark: the first convolution of each shape tries cuDNN's plans.
  bool cudnn_benchmark = false;
};

constexpr int most_steps = 10;

/// A part of a program: calls, events and nodes of its recording, half-open. What came before it
/// has run; what comes after it has not.
struct ProgramRange {
  CallId first_call = 0, end_call = 0;
  std::size_t first_event = 0, end_event = 0;
  NodeId first_node = 0, end_node = 0;
};

struct StepMemoryOptions {
  LoopOptions loop;
  /// What the device has for PyTorch; empty: as much as it takes.
  std::optional<std::int64_t> device_bytes;
  /// The loop ends at the first request for which more than this is reserved, as at one that is
  /// refused. Empty: it goes on.
  std::optional<std::int64_t> most_reserved_bytes;
  /// The first step finds no optimizer state and an empty cache, the second a cache without the
  /// blocks that the states took, and a later one may still ask for more. Empty: steps go on until
  /// one after the second raises neither peak, at most `most_steps`; where keys and values grow,
  /// there are two.
  std::optional<int> steps;
  /// Where `steps` is empty: cached memory that went back to the device in a step is a reason to
  /// run another one, too.
  bool until_settled = false;
  /// The recording is of a program that ran several steps of its own: each block is asked for and
  /// given back when it did so. Peaks and timeline are those of this range. Empty: one step.
  std::optional<ProgramRange> program;
  /// Called with each thing that the allocator does, and the call that runs.
  std::function<void(const AllocatorEvent&, CallId)> observer;
  /// Rules of the caller, which come before those of the program; null: none.
  const OperatorTable* own = nullptr;
};

}  // namespace profile

}  // namespace symprof
