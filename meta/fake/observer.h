// The observer interface for events of fake tensors. The mode calls it; shape/ implements it.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/util/ThreadLocalDebugInfo.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>

#include "base/tensor_spec.h"
#include "meta/fake/value_range.h"

namespace symprof::meta {

/// The memory of a storage: GPU, or host (a seed, a result of `.cpu()`).
enum class Place : std::uint8_t { device, host };

/// A tensor in a call: the observer's ids of its spec and its storage; -1: undefined.
struct SeenTensor {
  std::int32_t spec = -1;
  std::int32_t storage = -1;
};

/// A finished call. Tensor lists are flattened; `positions` has each input's schema argument.
struct SeenCall {
  const c10::OperatorHandle& op;
  std::span<const SeenTensor> inputs;
  std::span<const std::uint8_t> positions;
  std::span<const SeenTensor> outputs;
  std::span<const c10::IValue> arguments;  ///< The original arguments, for their numbers.
};

/// Calls of one step arrive sequentially. Frees may come from any thread.
class Observer {
 public:
  virtual ~Observer() = default;

  /// Unique in this process, unlike an address.
  std::uint64_t serial() const { return serial_; }

  /// A storage of `bytes` was created; returns its id.
  virtual std::int32_t on_allocate(std::int64_t bytes, Place place) = 0;
  /// The storage `old` has a new size and thus a new block; returns the new block's id. The old
  /// block is freed afterwards.
  virtual std::int32_t on_resize(std::int32_t /*old*/, std::int64_t bytes, Place place) {
    return on_allocate(bytes, place);
  }
  /// PyTorch would free the storage now.
  virtual void on_free(std::int32_t storage) noexcept = 0;
  /// A tensor has a new geometry; returns the id of the spec.
  virtual std::int32_t on_spec(TensorSpec spec) = 0;
  /// A call is about to run: allocations until on_call belong to it.
  virtual void on_call_begin(const c10::OperatorHandle& op) = 0;
  /// The call of on_call_begin has run.
  virtual void on_call(const SeenCall& call) = 0;
  /// An autograd node saved a tensor of this storage for backward.
  virtual void on_saved(std::int32_t storage) = 0;
  /// The current autograd node is about to fail, before any call of its own.
  virtual void on_backward_refused() {}
  /// An autograd node saved a tensor; under SaveOnCpu its copy is in this storage in host memory.
  virtual void on_offloaded(std::int32_t /*storage*/) {}
  /// A stream other than its own uses a storage (Tensor.record_stream).
  virtual void on_stream_use() {}
  /// The value used for an unbacked (data-dependent) size. `most` is its upper bound, if there is
  /// one. An empty result refuses the call.
  virtual std::optional<std::int64_t> unbacked_size(std::optional<std::int64_t> /*most*/) {
    return std::nullopt;
  }
  /// The value used for the number that aten::item would read from `storage`, within `range`. An
  /// empty result refuses the call.
  virtual std::optional<double> unbacked_number(std::int32_t /*storage*/,
                                                const ValueRange& /*range*/) {
    return std::nullopt;
  }
  /// Such a size or number is known from given values.
  virtual void on_known_number(std::int64_t /*number*/) {}
  /// From here on, known values are propagated through calls (meta/fake/known_values.h).
  void follow_values() { follows_values_ = true; }
  bool follows_values() const { return follows_values_; }
  /// True if the more expensive branch is taken for a data-dependent condition; if false, the
  /// branch is refused.
  virtual bool takes_upper_bounds() { return false; }

 private:
  inline static std::atomic<std::uint64_t> count_ = 0;
  std::uint64_t serial_ = ++count_;
  bool follows_values_ = false;
};

/// The observer of this thread's innermost mode or, on an autograd thread, of the mode in which
/// backward was started (LibTorch propagates ThreadLocalDebugInfo). Null outside of a mode.
std::shared_ptr<Observer> current_observer();

}  // namespace symprof::meta
